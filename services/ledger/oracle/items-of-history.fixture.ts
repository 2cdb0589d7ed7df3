import { createHash, randomBytes } from 'node:crypto'
import type { AdmitNodeItem } from '@gateway/ledger-protocol/flow-items'
import type { AdmitItem } from '@gateway/ledger-protocol/ledger-items'
import type { AdmissionItem, ClosingItem } from '../src/admissions/waiting-items.ts'
import type { Admission, Closing, NodeAdmission } from './random-history.fixture.ts'
import type { HistorySetup } from './history-setup.fixture.ts'

// Builds the items of a random history for a setup. `ids` are the ids admitted so far.

export function admitItems(wanted: (Admission | NodeAdmission)[], setup: HistorySetup, ids: string[]): AdmissionItem[] {
  const items: AdmissionItem[] = []
  for (const one of wanted) {
    const first = one.copyOf === null ? undefined : items[one.copyOf % items.length]
    if (first?.op === 'admit') items.push({ ...first, id: freshId() })
    else items.push(one.of === 'a key' ? admitItem(one, setup, ids) : admitNodeItem(one, setup, ids))
  }
  return items
}

function admitNodeItem(one: NodeAdmission, setup: HistorySetup, ids: string[]): AdmitNodeItem {
  const { held, lost } = setup.executions
  const { execution, node, lease, reservation } =
    (one.lost === null ? undefined : lost[one.lost % lost.length]) ?? held[one.node % held.length]!
  return {
    op: 'admit-node',
    id: one.sameIdAs !== null && ids.length > 0 ? ids[one.sameIdAs % ids.length]! : reservation,
    execution,
    node,
    lease,
    instance: setup.instances[one.instance],
    model: setup.models[one.model % setup.models.length]!,
    parameters: one.parameters,
    promptSize: promptSizeOf(one),
  }
}

function promptSizeOf(one: Admission | NodeAdmission): AdmitItem['promptSize'] {
  const { bytes, messages, tools, images, files, counted, maxTokens } = one
  return { bytes, messages, tools, images, files, counted, maxTokens }
}

export const freshId = () => `inv_${randomBytes(8).toString('hex')}`

function admitItem(one: Admission, setup: HistorySetup, ids: string[]): AdmitItem {
  const key = setup.keyHashes[one.key % setup.keyHashes.length]!
  const project = setup.book.keys.get(key)?.project ?? setup.projects[0]!
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  return {
    op: 'admit',
    id: one.sameIdAs !== null && ids.length > 0 ? ids[one.sameIdAs % ids.length]! : freshId(),
    instance: one.reservesNothing ? null : setup.instances[one.instance],
    keyHash: key,
    selector: one.selector === 'own' ? project : one.selector === 'other' ? 'prj_elsewhere' : null,
    tag: one.tag,
    model: setup.models[one.model % setup.models.length]!,
    parameters: one.parameters,
    promptSize: promptSizeOf(one),
    idempotency:
      one.idempotency === null
        ? null
        : { key: `idem-${one.idempotency}`, fingerprint: digest(`body ${one.body === 0}`) },
  }
}

export function closingItem(one: Closing, ids: string[]): ClosingItem {
  const id =
    one.neverAdmitted || ids.length === 0
      ? `inv_never_${randomBytes(6).toString('hex')}`
      : ids[ids.length - 1 - (one.of % Math.min(ids.length, 120))]!
  if (one.op === 'settle')
    return {
      op: 'settle',
      id,
      usage: {
        promptTokens: one.promptTokens,
        completionTokens: one.completionTokens,
        cachedTokens: one.cachedTokens,
        cacheWriteTokens: one.cacheWriteTokens,
        reasoningTokens: one.reasoningTokens,
        estimated: false,
      },
      answer: null,
    }
  return one.op === 'release' ? { op: 'release', id, reason: 'test' } : { op: 'expire', id }
}
