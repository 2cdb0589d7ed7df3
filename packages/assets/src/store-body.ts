import type { IncomingMessage } from 'node:http'
import { flowLimits } from '@gateway/contracts/limits'
import type { MediaType } from '@gateway/contracts/media-type'
import { refuse } from '@gateway/contracts/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/client-disconnected'
import { AssetTooLarge, AssetTypeUnknown } from './asset-failures.ts'
import type { AssetStore, StoredAsset } from './asset-store.ts'
import { typeDiffers } from './declared-type.ts'

/**
 * Stores the body of a request as it comes, under an id that is new. Nothing is kept of what is refused, and it is the project's only
 * once the ledger has it on its books.
 * @param declared what the caller says that it is
 * @throws Refusal `invalid_request`, `request_too_large`; ClientDisconnected, AssetStoreUnavailable
 */
export async function storeBody(
  assetStore: Pick<AssetStore, 'put' | 'remove'>,
  req: IncomingMessage,
  { project, id, declared }: { project: string; id: string; declared: MediaType },
): Promise<StoredAsset> {
  // Ended early, the request stays open: its caller is still to be answered.
  const bytes = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  const stored = await assetStore
    .put(project, id, bytes, { maxBytes: flowLimits.assetBytes })
    .catch((error: unknown) => {
      if (error instanceof AssetTooLarge) throw refuse('request_too_large', { limitBytes: flowLimits.assetBytes })
      if (error instanceof AssetTypeUnknown) throw typeDiffers(declared, null)
      throw req.destroyed && !req.complete ? new ClientDisconnected() : error
    })
  if (stored.mimeType === declared) return stored
  await assetStore.remove(project, id)
  throw typeDiffers(declared, stored.mimeType)
}
