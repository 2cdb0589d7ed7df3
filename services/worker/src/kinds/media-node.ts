import { AssetTooLarge, AssetTypeUnknown } from '@gateway/assets/asset-failures'
import type { AssetStore, StoredAsset } from '@gateway/assets/asset-store'
import type { AssetValue, Values } from '@gateway/contracts/execution'
import type { Id } from '@gateway/contracts/ids'
import { flowLimits } from '@gateway/contracts/limits'
import { refuse } from '@gateway/contracts/refusal'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { MediaWish } from '@gateway/providers/media-port'
import type { Providers } from '@gateway/providers/open-providers'
import { askUntil } from './ask-until.ts'
import type { PaidKind } from './paid-kind.ts'
import { productOf, textAt } from './ports.ts'

// Products that make an image or a sound, at a fixed price a call (spec 8.3).
//   M1  The bytes go from the provider into the asset store as they come, under an id that nobody knows yet.
//   M2  They are the project's once the ledger has recorded them; before that nobody can ask for them.
//   M3  What fails afterwards leaves bytes behind that are on nobody's books: they are removed, as far as that goes.

interface Deps {
  providers: Pick<Providers, 'media'>
  assets: Pick<AssetStore, 'put' | 'remove'>
  ledger: Pick<LedgerClient, 'recordAsset'>
  mintId: (prefix: 'ast') => Id<'ast'>
}

interface MediaKind {
  /** What is to be made of the values at the ports. */
  wish(inputs: Values): MediaWish
  /** Of its one output. */
  port: 'image' | 'audio'
}

/** `product.image`: `prompt` → `image`. */
const image: MediaKind = {
  wish: (inputs) => ({ kind: 'image', prompt: textAt(inputs, 'prompt') ?? '' }),
  port: 'image',
}

/** `product.audio`: `text`, `voice` → `audio`. */
const audio: MediaKind = {
  wish: (inputs) => ({ kind: 'audio', text: textAt(inputs, 'text') ?? '', voice: textAt(inputs, 'voice') || null }),
  port: 'audio',
}

export const imageNode = (deps: Deps) => mediaNode(deps, image)
export const audioNode = (deps: Deps) => mediaNode(deps, audio)

/** A price a call needs no count. */
const NO_TOKENS = { promptTokens: 0, completionTokens: 0, estimated: false }

function mediaNode({ providers, assets, ledger, mintId }: Deps, { wish: wishOf, port }: MediaKind): PaidKind {
  return async ({ claim: { node, project }, lease: { execution } }, inputs) => {
    const wish = wishOf(inputs)
    return {
      product: productOf(node),
      parameters: [],
      promptSize: { bytes: Buffer.byteLength(JSON.stringify(wish)), messages: 0, tools: 0, images: 0, maxTokens: null },
      request: null,
      async make({ routes }, signal) {
        const asset = mintId('ast')
        const maxBytes = flowLimits.assetBytes
        const store = (bytes: AsyncIterable<Buffer>) => assets.put(project, asset, bytes, { maxBytes }) // M1
        const startedMs = performance.now()
        const { stored } = await providers.media({ routes, wish, maxBytes, store, signal }).catch(explained)
        const remoteMs = performance.now() - startedMs
        try {
          await record(asset, stored, signal)
        } catch (error) {
          await assets.remove(project, asset).catch(() => {}) // M3
          throw error
        }
        const value: AssetValue = { asset, ...stored }
        return { usage: NO_TOKENS, remoteMs, output: () => ({ [port]: value }) }
      },
    }

    /** M2 */
    async function record(id: string, { mimeType, bytes }: StoredAsset, signal: AbortSignal): Promise<void> {
      const question = { id, caller: { project, execution }, mimeType, bytes }
      const answer = await askUntil(signal, () => ledger.recordAsset(question))
      if ('refused' in answer) throw new Error(`the ledger refused to record an asset with ${answer.refused.code}`)
    }
  }
}

/** The providers look at the bytes before the store does, so this is no more than a second look. */
function explained(error: unknown): never {
  if (error instanceof AssetTooLarge || error instanceof AssetTypeUnknown) throw refuse('provider_failed', {})
  throw error
}
