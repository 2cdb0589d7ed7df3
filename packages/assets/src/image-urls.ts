import { buffer } from 'node:stream/consumers'
import type { ImageAsset } from '@gateway/api/images'
import { AssetMissing } from './blob-backend.ts'
import { refuse } from '@gateway/api/refusal'
import type { AssetStore } from './asset-store.ts'

/**
 * Assets of a project as `data:` URLs, by the reference under which a chat names them. They are in memory whole: anyone who asks has
 * made room for them.
 * @throws Refusal `asset_not_found` where the bytes are lost; AssetStoreUnavailable
 */
export async function imageUrls(
  store: Pick<AssetStore, 'open'>,
  project: string,
  assets: readonly ImageAsset[],
): Promise<Map<string, string>> {
  const urls = new Map<string, string>()
  for (const { id, mimeType } of assets) {
    const bytes = await readWhole(store, project, id)
    urls.set(`asset:${id}`, `data:${mimeType};base64,${bytes.toString('base64')}`)
  }
  return urls
}

async function readWhole(store: Pick<AssetStore, 'open'>, project: string, asset: string): Promise<Buffer> {
  try {
    return await buffer(await store.open(project, asset))
  } catch (error) {
    throw error instanceof AssetMissing ? refuse('asset_not_found', { asset }) : error
  }
}
