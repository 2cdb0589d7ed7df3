import type { NamedAsset } from '@gateway/api/attachments'
import { AssetMissing } from './blob-backend.ts'
import { refuse } from '@gateway/api/refusal'
import type { AssetStore } from './asset-store.ts'

/**
 * Returns assets of a project as `data:` URLs, keyed by their reference in a chat. They are held in memory as a whole,
 * for which the caller has reserved room.
 * @throws Refusal `asset_not_found` if the bytes are lost; AssetStoreUnavailable
 */
export async function assetUrls(
  store: Pick<AssetStore, 'readWhole'>,
  project: string,
  assets: readonly NamedAsset[],
): Promise<Map<string, string>> {
  const urls = new Map<string, string>()
  for (const { id, mimeType } of assets) {
    const bytes = await readWhole(store, project, id)
    urls.set(`asset:${id}`, `data:${mimeType};base64,${bytes.toString('base64')}`)
  }
  return urls
}

async function readWhole(store: Pick<AssetStore, 'readWhole'>, project: string, asset: string): Promise<Buffer> {
  try {
    return await store.readWhole(project, asset)
  } catch (error) {
    throw error instanceof AssetMissing ? refuse('asset_not_found', { asset }) : error
  }
}
