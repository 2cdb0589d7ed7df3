import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { ask } from '../../api/ask.ts'

/** Uploads a file as an asset of the project. @throws ApiRefusal, Unreachable */
export function uploadAsset(
  params: Record<'tenant' | 'project', string>,
  body: Blob,
  contentType: string,
): Promise<StoredAssetRecord> {
  return ask('POST', '/api/v2/tenants/{tenant}/projects/{project}/assets', { params, body, contentType })
}
