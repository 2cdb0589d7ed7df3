import { flowLimits } from '@gateway/api/limits'
import { MEDIA_HEAD_BYTES, mediaTypeOf, type MediaType } from '@gateway/api/media-type'
import { count } from '../../components/usd.ts'
import type { StoredAssetRecord } from '@gateway/api/console/assets'
import { ask } from '../../api/ask.ts'

export type AssetFormat = 'image' | 'audio'

/**
 * Detects the media type of a file from its first bytes. Otherwise returns why the file is refused; it is not uploaded
 * then.
 */
export async function readAssetFile(
  file: Blob,
  format: AssetFormat | 'media',
): Promise<{ type: MediaType } | { fault: string }> {
  const { kinds } = words[format]
  if (file.size > flowLimits.assetBytes)
    return {
      fault: `The file has ${count(file.size)} bytes, more than the maximum of ${count(flowLimits.assetBytes)}. ${smaller}`,
    }
  const head = new Uint8Array(await file.slice(0, MEDIA_HEAD_BYTES).arrayBuffer())
  const type = mediaTypeOf(head)
  if (!type || (format !== 'media' && !type.startsWith(`${format}/`)))
    return { fault: `This file type is not supported. Choose ${kinds}.` }
  return { type }
}

const smaller = 'Choose a smaller file.'
const words = {
  image: { kinds: 'a PNG, JPEG or WebP file' },
  audio: { kinds: 'a WAV or MP3 file' },
  media: { kinds: 'a PNG, JPEG, WebP, WAV, MP3 or PDF file' },
} as const

/** Uploads a file as an asset of the project. @throws ApiRefusal, Unreachable */
export function uploadAsset(
  params: Record<'tenant' | 'project', string>,
  body: Blob,
  contentType: string,
): Promise<StoredAssetRecord> {
  return ask('POST', '/api/v2/tenants/{tenant}/projects/{project}/assets', { params, body, contentType })
}
