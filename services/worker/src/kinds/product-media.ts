import { AssetTooLarge, AssetTypeUnknown } from '@gateway/assets/blob-backend'
import { mediaParameters } from '@gateway/api/console/fields'
import { type PaidCall, productOf, requiredTextAt, textAt } from './paid-kind.ts'
import type { StoredAsset } from '@gateway/assets/asset-store'
import type { AssetValue, Values } from '@gateway/api/execution'
import type { GraphNode } from '@gateway/api/graph'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { noTokens } from '@gateway/pricing/usage'
import type { MediaWish } from '@gateway/providers/provider-adapter'
import type { Deps } from '../deps.ts'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { recordStored } from '@gateway/ledger-client/record-stored'
import { askUntilAnswered } from '../retry.ts'
import { WorkCancelled, type Work } from '../work.ts'

// Products that generate an image or audio at a fixed price per call (money §1.2).
//   M1  The bytes are streamed from the provider into the asset store, under an ID that no one knows yet.
//       Room for them is taken before the provider is called, so that no paid response waits for it.
//   M2  They become an asset of the project once the ledger has recorded them; before that no one can read them.
//       What has arrived is charged, even if the execution is stopped or its time ends meanwhile (flows §4.11): then it
//       is recorded within the time that running nodes still have.
//   M3  Bytes that are not recorded are removed. If the ledger may have recorded them, they stay.

type MediaDeps = Pick<Deps, 'providers' | 'assets' | 'ledger' | 'newId'>

/** `product.image`: `prompt` and `params` → `image`. */
export async function prepareImage(
  deps: MediaDeps,
  work: Work,
  inputs: Values,
  signal: AbortSignal,
): Promise<PaidCall> {
  const prompt = requiredTextAt(inputs, 'prompt', work.claim.node)
  await requireRoom(deps, work, signal)
  return prepareMedia(deps, work, { ...paramsOf(work.claim.node, 'image'), kind: 'image', prompt })
}

/** `product.audio`: `text`, `voice` and `params` → `audio`. */
export async function prepareAudio(
  deps: MediaDeps,
  work: Work,
  inputs: Values,
  signal: AbortSignal,
): Promise<PaidCall> {
  const text = requiredTextAt(inputs, 'text', work.claim.node)
  await requireRoom(deps, work, signal)
  const params = paramsOf(work.claim.node, 'audio')
  const voice = textAt(inputs, 'voice') || params.voice || null
  return prepareMedia(deps, work, { ...params, kind: 'audio', text, voice })
}

/**
 * Refuses before anything is reserved or paid: what is made could not be stored.
 * @throws Refusal `quota_reached`
 */
async function requireRoom({ ledger }: MediaDeps, { claim, lease }: Work, signal: AbortSignal): Promise<void> {
  const caller = { project: claim.project, execution: lease.execution }
  const answer = await askUntilAnswered(signal, () => ledger.admitAsset({ caller, bytes: null }))
  if ('refused' in answer && answer.refused.code === 'quota_reached') throw refusalFor(answer.refused, 'node')
}

/** Returns the params that the product listed when the flow was saved; others are not sent. */
function paramsOf<Kind extends keyof typeof mediaParameters>(
  { params }: GraphNode,
  kind: Kind,
): Partial<Record<(typeof mediaParameters)[Kind][number], string>> {
  const given = Object.entries(typeof params === 'object' && params !== null ? params : {})
  const names: readonly string[] = mediaParameters[kind]
  return Object.fromEntries(given.filter(([name, value]) => names.includes(name) && typeof value === 'string')) as never
}

/** The single output is named after the requested medium. */
function prepareMedia(
  deps: MediaDeps,
  { claim: { node, project }, lease: { execution } }: Work,
  wish: MediaWish,
): PaidCall {
  const { providers, assets, ledger } = deps
  return {
    product: productOf(node),
    parameters: [],
    promptSize: { bytes: Buffer.byteLength(JSON.stringify(wish)), messages: 0, tools: 0, images: 0, maxTokens: null },
    request: null,
    async make({ routes, product, invocation, maxOutputBytes: maxBytes = flowLimits.assetBytes }, signal, timing) {
      const asset = deps.newId('ast')
      const room = await assets.makeRoom(project, maxBytes, signal) // M1
      const store = (bytes: AsyncIterable<Buffer>) => room.put(asset, bytes)
      const { stored, remoteMs, route } = await providers
        .media({ routes, reference: { product, invocation }, project, wish, maxBytes, store, signal, timing })
        .catch(refuseBadBytes)
        .finally(room.giveBack)
      await record(asset, stored, signal) // M2
      const value: AssetValue = { asset, ...stored }
      return { usage: noTokens, route, remoteMs, output: () => ({ [wish.kind]: value }) }
    },
  }

  async function record(id: string, { mimeType, bytes }: StoredAsset, signal: AbortSignal): Promise<void> {
    const recording = openRecordingSignal(signal)
    try {
      const answer = await recordStored(
        { ledger, assetStore: assets },
        { id, project, caller: { project, execution }, mimeType, bytes },
        { first: (ask) => askUntilAnswered(recording.signal, ask), budgetMs: QUESTION_MS },
      )
      if ('refused' in answer) throw new Error(`the ledger refused to record an asset with ${answer.refused.code}`)
    } finally {
      recording.close()
    }
  }
}

/** With the last question less than the 15 seconds that running nodes have once their execution is stopped or over. */
const RECORDING_MS = 10_000
const QUESTION_MS = 2_000

/** Aborts later than the work on the node, unless this worker stops: another worker then runs the node. */
function openRecordingSignal(work: AbortSignal): { signal: AbortSignal; close(): void } {
  const aborter = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const abort = () => aborter.abort(work.reason)
  const onAbort = () => {
    if (work.reason instanceof WorkCancelled && work.reason.reason !== 'stopping')
      timer = setTimeout(abort, RECORDING_MS)
    else abort()
  }
  if (work.aborted) onAbort()
  else work.addEventListener('abort', onAbort, { once: true })
  return {
    signal: aborter.signal,
    close() {
      clearTimeout(timer)
      work.removeEventListener('abort', onAbort)
    },
  }
}

/** The provider client checks the bytes before the store does, so this is only a second check. */
function refuseBadBytes(error: unknown): never {
  if (error instanceof AssetTooLarge || error instanceof AssetTypeUnknown) throw refuse('provider_failed', {})
  throw error
}
