import { deepStrictEqual, equal } from 'node:assert/strict'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'
import { restoreReservation, type Receipt } from '../src/admissions/receipts.ts'
import { runBatch, type AdmittedFacts, type BatchRows } from '../src/admissions/run-batch.ts'
import type { AdmissionItem, ClosingItem, Waiting } from '../src/admissions/waiting-items.ts'
import { closeNodes, type HeldNode } from '../src/fixtures/execution-rows.ts'
import { correct } from '../src/wallets/wallets.ts'
import { decideBatch, decideClosings, decideLateAnswers, type LateAnswer } from './decide-batch.ts'
import { decideRestoration, decideCorrection } from './decide-restoration.ts'
import { admitItems, closingItem, freshId } from './items-of-history.fixture.ts'
import type { Command, NodeClosing, RandomLateAnswer } from './random-history.fixture.ts'
import type { HistorySetup } from './history-setup.fixture.ts'

type RandomBatch = Extract<Command, { kind: 'batch' }>

// One step of a random history, decided by SQL and by the pure function: both must return the same.

export async function playBatch(
  setup: HistorySetup,
  { admissions: wanted, closings: ending, waitForLocks }: RandomBatch,
  ids: string[],
  replica: Database,
  seen: Map<string, number>,
): Promise<number> {
  const taken = new Set<string>()
  const once = <T extends { id: string }>(items: T[]) => items.filter(({ id }) => !taken.has(id) && taken.add(id))
  const closings = once(ending.map((one) => closingItem(one, ids)))
  const admissions = once(admitItems(wanted, setup, ids))
  const rows = await runBatch(
    replica.sql,
    { admissions: admissions.map(waiting), closings: closings.map(waiting) },
    waitForLocks,
  )
  const decided = decideBatch(setup.book, { admissions, closings }, rows.atMs)
  deepStrictEqual(
    closingsOf(rows),
    decided.closings.map((one) => [one.outcome, chargeOf(one)]),
  )
  deepStrictEqual(
    admissionsOf(rows),
    decided.admissions.map((one) =>
      'reservation' in one
        ? [
            one.code,
            one.reservation.invocation,
            one.reservation.attempt,
            one.reservation.micro,
            one.reservation.outputCap,
          ]
        : 'invocation' in one
          ? [one.code, one.invocation]
          : [one.code],
    ),
  )
  const outcomes = rows.admissions.map(({ code }, n) => (admissions[n]!.op === 'admit' ? code : `node ${code}`))
  outcomes.push(...rows.closings.map(({ outcome }) => `closing ${outcome}`))
  outcomes.push(...refusedCopies(admissions, decided.admissions))
  for (const [n, { outcome }] of decided.closings.entries())
    if (outcome === 'unknown' && isOfNode(setup, closings[n]!.id)) outcomes.push('closing unknown of a node')
  for (const outcome of outcomes) seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
  for (const [n, { code }] of decided.admissions.entries()) if (code === 'admitted') ids.push(admissions[n]!.id)
  return admissions.length + closings.length
}

/** Returns the refusals of copies: items with the key, idempotency key and body of an earlier one in the batch. */
function refusedCopies(items: AdmissionItem[], decisions: { code: string }[]): string[] {
  const before = new Set<string>()
  return items.flatMap((item, n) => {
    if (item.op !== 'admit') return []
    const { keyHash, idempotency } = item
    const name = `${keyHash} ${idempotency?.key} ${idempotency?.fingerprint}`
    const isCopy = idempotency !== null && before.has(name)
    before.add(name)
    return isCopy ? [`copy ${decisions[n]!.code}`] : []
  })
}

function isOfNode({ book }: HistorySetup, id: string): boolean {
  const found = book.open.get(id) ?? book.closed.get(id)
  return found !== undefined && found.node !== null
}

/** Plays money.close_node_calls and ends the leases: an answered node is done, any other one is claimed again. */
export async function playNodeClosings(
  setup: HistorySetup,
  wanted: NodeClosing[],
  ids: string[],
  replica: Database,
  seen: Map<string, number>,
): Promise<number> {
  const { held, lost } = setup.executions
  const taken = new Set<string>()
  const some = wanted.flatMap(({ of, instead, usage, keepsLease }) => {
    const node = instead === null ? held[of % held.length]! : instead === 'lost' ? lost[of % lost.length] : null
    const id = node ? node.reservation : ids[of % ids.length]
    if (node === undefined || id === undefined || taken.has(id)) return []
    taken.add(id)
    return [{ id, usage, keepsLease, node: instead === null ? node : null }]
  })
  const closed = await closeNodes(replica, setup.projects, some)
  const items = some.map(({ id, usage }): ClosingItem =>
    usage
      ? { op: 'settle', id, usage: { ...usage, estimated: false }, answer: null }
      : { op: 'release', id, reason: 'test' },
  )
  const decided = decideClosings(setup.book, items, true)
  deepStrictEqual(
    closed.map(({ outcome, chargedMicro, excessMicro }) => [outcome, chargedMicro, excessMicro]),
    decided.map((one) => [one.outcome, Number(chargeOf(one)), 'close' in one ? Number(one.close.excessMicro) : 0]),
  )
  for (const { outcome } of closed) {
    const name = `node closing ${outcome}`
    seen.set(name, (seen.get(name) ?? 0) + 1)
  }
  const charged: { node: HeldNode; ends: boolean }[] = []
  const again: HeldNode[] = []
  for (const [n, { node, keepsLease }] of some.entries()) {
    if (node === null) continue
    if (closed[n]!.outcome === 'settled') charged.push({ node, ends: keepsLease === null })
    else again.push(node)
  }
  await setup.executions.replace(charged)
  await setup.executions.reclaim(again)
  return some.length
}

/** Corrects a wallet and repeats the correction, which must change nothing more. */
export async function playCorrection(
  { book }: HistorySetup,
  project: string,
  micro: bigint,
  correctionId: string,
  reads: Database,
  seen: Map<string, number>,
): Promise<number> {
  const correction = { project, correctionId, micro: Number(micro), reason: 'a test', correctedBy: 'usr_test' }
  const first = await correct({ reads }, correction)
  const decided = decideCorrection(book, project, micro)
  deepStrictEqual(first.kind, decided)
  if (first.kind === 'corrected') {
    deepStrictEqual([first.fresh, first.micro], [true, Number(micro)])
    deepStrictEqual(await correct({ reads }, correction), { ...first, fresh: false })
  }
  const name = `correction ${decided}`
  seen.set(name, (seen.get(name) ?? 0) + 1)
  return 1
}

/** Plays money.restore_reservation, twice: the second time nothing is lost any longer. */
export async function playRestoration(
  { book, ...setup }: HistorySetup,
  wanted: Extract<Command, { kind: 'restore' }>,
  ids: string[],
  replica: Database,
  seen: Map<string, number>,
): Promise<number> {
  const keyFacts = book.keys.get(setup.keyHashes[wanted.key % setup.keyHashes.length]!)
  const project = keyFacts?.project ?? setup.projects[0]!
  const product = book.callable.get(`${project} ${setup.models[wanted.model % setup.models.length]!}`)
  if (!product) return 0
  const { price } = product
  const pico = (value: bigint | null | undefined) => (value === null || value === undefined ? null : String(value))
  const receipt: Receipt = {
    id: wanted.notLost !== null && ids.length > 0 ? ids[wanted.notLost % ids.length]! : freshId(),
    project,
    key: keyFacts?.id ?? 'key_none',
    product: product.id,
    instance: setup.instances.alive,
    micro: wanted.micro,
    outputCap: 100,
    price: [
      String(price.promptPico),
      String(price.completionPico),
      String(price.requestPico),
      pico(price.cachedPico),
      pico(price.reasoningPico),
      pico(price.cacheWritePico),
    ],
    tag: wanted.tag,
    admittedMs: Date.now(),
  }
  const lost = { ...receipt, price, keyFacts }
  const isLost = decideRestoration(book, lost, Date.now())
  equal(await restoreReservation(replica, receipt), isLost)
  equal(await restoreReservation(replica, receipt), decideRestoration(book, lost, Date.now()))
  const isWhole = book.open.get(receipt.id)?.micro === BigInt(wanted.micro)
  const name = isLost ? (isWhole ? 'a lost reservation' : 'less than was reserved') : 'what was not lost'
  seen.set(`restoration of ${name}`, (seen.get(`restoration of ${name}`) ?? 0) + 1)
  if (isLost) ids.push(receipt.id)
  return 2
}

/** Plays money.write_off_fenced with answers of nodes whose lease another worker holds by now. */
export async function playLateAnswers(
  { book, executions: { held, lost } }: HistorySetup,
  wanted: RandomLateAnswer[],
  replica: Database,
  seen: Map<string, number>,
): Promise<number> {
  const taken = new Set<string>()
  const answers = wanted.flatMap(({ of, instead, ...usage }): LateAnswer[] => {
    const nodes = instead === 'held' ? held : lost
    const node = nodes[of % nodes.length]
    if (node === undefined || taken.has(node.reservation)) return []
    taken.add(node.reservation)
    const execution = instead === 'of another execution' ? 'exe_another' : node.execution
    return [{ reservation: node.reservation, execution, usage }]
  })
  const { written } = await callFunction(replica.sql, 'money.write_off_fenced', {
    answers: answers.map(({ reservation, execution, usage }) => ({ id: reservation, execution, usage })),
  })
  equal(written, decideLateAnswers(book, answers))
  const count = (name: string, times: number) => times > 0 && seen.set(name, (seen.get(name) ?? 0) + times)
  count('late answer written off', written)
  count('late answer of no one', answers.length - written)
  return answers.length
}

function waiting<T extends AdmissionItem | ClosingItem>(item: T): Waiting<T> {
  return { item, sinceMs: 0, dropAtMs: Infinity, deferrals: 0, outcomeUnknown: false, answer: () => {} }
}

function closingsOf(rows: BatchRows): unknown[][] {
  return rows.closings.map(({ outcome, chargedMicro }) => [outcome, BigInt(chargedMicro)])
}

function chargeOf(one: ReturnType<typeof decideBatch>['closings'][number]): bigint {
  if ('close' in one) return one.close.chargedMicro
  return 'before' in one ? one.before : 0n
}

function admissionsOf(rows: BatchRows): unknown[][] {
  return rows.admissions.map(({ code, facts }) => {
    const { invocation, attempt, micro, outputCap } = facts as Partial<AdmittedFacts>
    if (code === 'admitted' || code === 'again') return [code, invocation, attempt, BigInt(micro!), BigInt(outputCap!)]
    return code === 'running' || code === 'replay' ? [code, invocation] : [code]
  })
}
