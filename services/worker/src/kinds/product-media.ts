import { AssetTooLarge, AssetTypeUnknown } from '@gateway/assets/blob-backend'
import { mediaParameters } from '@gateway/api/console/fields'
import { type PaidCall, productOf, textAt } from './paid-kind.ts'
import type { StoredAsset } from '@gateway/assets/asset-store'
import type { AssetValue, Values } from '@gateway/api/execution'
import type { GraphNode } from '@gateway/api/graph'
import { flowLimits } from '@gateway/api/limits'
import { refuse } from '@gateway/api/refusal'
import { noTokens } from '@gateway/pricing/usage'
import type { MediaWish } from '@gateway/providers/media-port'
import type { Deps } from '../deps.ts'
import { askUntilAnswered } from '../retry.ts'
import type { Work } from '../work.ts'

// Products that make an image or a sound, at a fixed price a call (money §1.2).
//   M1  The bytes go from the provider into the asset store as they come, under an id that no one knows yet.
//   M2  They are the project's once the ledger has recorded them; before that no one can ask for them.
//   M3  What fails afterwards leaves bytes behind that no record names: they are removed, as far as that goes.

type MediaDeps = Pick<Deps, 'providers' | 'assets' | 'ledger' | 'newId' | 'now'>

/** `product.image`: `prompt` and `params` → `image`. */
export async function prepareImage(deps: MediaDeps, work: Work, inputs: Values): Promise<PaidCall> {
  const prompt = textAt(inputs, 'prompt') ?? ''
  return prepareMedia(deps, work, { ...paramsOf(work.claim.node, 'image'), kind: 'image', prompt })
}

/** `product.audio`: `text`, `voice` and `params` → `audio`. */
export async function prepareAudio(deps: MediaDeps, work: Work, inputs: Values): Promise<PaidCall> {
  const params = paramsOf(work.claim.node, 'audio')
  const voice = textAt(inputs, 'voice') || params.voice || null
  return prepareMedia(deps, work, { ...params, kind: 'audio', text: textAt(inputs, 'text') ?? '', voice })
}

/** What the product listed of them when the flow was saved; others are not asked for. */
function paramsOf<Kind extends keyof typeof mediaParameters>(
  { params }: GraphNode,
  kind: Kind,
): Partial<Record<(typeof mediaParameters)[Kind][number], string>> {
  const given = Object.entries(typeof params === 'object' && params !== null ? params : {})
  const names: readonly string[] = mediaParameters[kind]
  return Object.fromEntries(given.filter(([name, value]) => names.includes(name) && typeof value === 'string')) as never
}

/** The one output has the name of what was wished for. */
function prepareMedia(
  deps: MediaDeps,
  { claim: { node, project }, lease: { execution } }: Work,
  wish: MediaWish,
): PaidCall {
  const { providers, assets, ledger, now } = deps
  return {
    product: productOf(node),
    parameters: [],
    promptSize: { bytes: Buffer.byteLength(JSON.stringify(wish)), messages: 0, tools: 0, images: 0, maxTokens: null },
    request: null,
    async make({ routes, maxOutputBytes: maxBytes = flowLimits.assetBytes }, signal) {
      const asset = deps.newId('ast')
      const store = (bytes: AsyncIterable<Buffer>) => assets.put(project, asset, bytes, { maxBytes }) // M1
      const startedMs = now()
      const { stored } = await providers.media({ routes, wish, maxBytes, store, signal }).catch(refuseBadBytes)
      const remoteMs = now() - startedMs
      try {
        await record(asset, stored, signal)
      } catch (error) {
        await assets.remove(project, asset).catch(() => {}) // M3
        throw error
      }
      const value: AssetValue = { asset, ...stored }
      return { usage: noTokens, remoteMs, output: () => ({ [wish.kind]: value }) }
    },
  }

  /** M2 */
  async function record(id: string, { mimeType, bytes }: StoredAsset, signal: AbortSignal): Promise<void> {
    const question = { id, caller: { project, execution }, mimeType, bytes }
    const answer = await askUntilAnswered(signal, () => ledger.recordAsset(question))
    if ('refused' in answer) throw new Error(`the ledger refused to record an asset with ${answer.refused.code}`)
  }
}

/** The providers look at the bytes before the store does, so this is no more than a second look. */
function refuseBadBytes(error: unknown): never {
  if (error instanceof AssetTooLarge || error instanceof AssetTypeUnknown) throw refuse('provider_failed', {})
  throw error
}
