import type { IncomingMessage } from 'node:http'
import { AssetTooLarge, AssetTypeUnknown } from '@gateway/assets/asset-failures'
import type { StoredAsset } from '@gateway/assets/asset-store'
import type { AssetValue } from '@gateway/contracts/execution'
import type { CallerQuestion } from '@gateway/contracts/ledger-reads'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { flowLimits } from '@gateway/contracts/limits'
import type { MediaType } from '@gateway/contracts/media-type'
import { refuse } from '@gateway/contracts/refusal'
import { ClientDisconnected } from '@gateway/http/client-disconnected'
import type { Deps } from '../deps.ts'
import { typeDiffers } from './declared-type.ts'

// How bytes come in.
//   U1  A caller who may not store is refused before the body is read (routes/v1/assets.ts), and bytes of no use before
//       the rest of them are.
//   U2  They go to the store as they come; they are never in memory whole.
//   U3  They are the project's once they are on the ledger's books. What is not on the books nobody can read.

type Needed = Pick<Deps, 'ledger' | 'assetStore' | 'newId'>

/**
 * Stores the body of a request as an asset of the project, and answers the value that names it.
 * @throws Refusal 400, 413, or as the admission of a call would; ClientDisconnected
 */
export async function storeUpload(
  deps: Needed,
  req: IncomingMessage,
  caller: CallerQuestion,
  project: string,
  declared: MediaType,
): Promise<AssetValue> {
  const id = deps.newId('ast')
  const stored = await store(deps, req, project, id, declared)
  const recorded = await record(deps, id, caller, stored).catch(async (error: unknown) => {
    await deps.assetStore.remove(project, id).catch(() => {}) // U3
    throw error
  })
  if (recorded.project !== project) throw new Error('a key has changed its project')
  return { asset: id, mimeType: stored.mimeType, bytes: stored.bytes }
}

/** U1, U2 */
async function store(
  { assetStore }: Needed,
  req: IncomingMessage,
  project: string,
  id: string,
  declared: MediaType,
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

async function record({ ledger }: Needed, id: string, caller: CallerQuestion, { mimeType, bytes }: StoredAsset) {
  const answer = await ledger.recordAsset({ id, caller, mimeType, bytes })
  if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
  return answer
}
