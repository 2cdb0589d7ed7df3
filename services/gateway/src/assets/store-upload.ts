import type { IncomingMessage } from 'node:http'
import type { StoredAsset } from '@gateway/assets/asset-store'
import { storeBody } from '@gateway/assets/store-body'
import type { AssetValue } from '@gateway/contracts/execution'
import type { CallerQuestion } from '@gateway/contracts/ledger-reads'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { MediaType } from '@gateway/contracts/media-type'
import type { Deps } from '../deps.ts'

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
  const stored = await storeBody(deps.assetStore, req, { project, id, declared }) // U1, U2
  const recorded = await record(deps, id, caller, stored).catch(async (error: unknown) => {
    await deps.assetStore.remove(project, id).catch(() => {}) // U3
    throw error
  })
  if (recorded.project !== project) throw new Error('a key has changed its project')
  return { asset: id, mimeType: stored.mimeType, bytes: stored.bytes }
}

async function record({ ledger }: Needed, id: string, caller: CallerQuestion, { mimeType, bytes }: StoredAsset) {
  const answer = await ledger.recordAsset({ id, caller, mimeType, bytes })
  if ('refused' in answer) throw refusalFor(answer.refused, 'chat')
  return answer
}
