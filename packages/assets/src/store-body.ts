import type { IncomingMessage } from 'node:http'
import { flowLimits } from '@gateway/api/limits'
import type { MediaType } from '@gateway/api/media-type'
import { type Refusal, refuse } from '@gateway/api/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { AssetTooLarge, AssetTypeUnknown } from './blob-backend.ts'
import type { AssetStore, StoredAsset } from './asset-store.ts'

/**
 * Stores the body of a request as it arrives, under a new id. Keeps nothing of a refused body. The asset exists for the
 * project only once the ledger has recorded it.
 * @param declared the type that the caller states
 * @throws Refusal `invalid_request`, `request_too_large`, `overloaded` before a byte is read; ClientDisconnected, AssetStoreUnavailable
 */
export async function storeBody(
  assetStore: Pick<AssetStore, 'put' | 'remove'>,
  req: IncomingMessage,
  { project, id, declared }: { project: string; id: string; declared: MediaType },
): Promise<StoredAsset> {
  const { 'content-length': length = flowLimits.assetBytes } = req.headers
  const maxBytes = Math.min(Number(length), flowLimits.assetBytes)
  // An early end must not destroy the request: its caller still gets a response.
  const bytes = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
  const stored = await assetStore.put(project, id, bytes, { maxBytes }).catch((error: unknown) => {
    if (error instanceof AssetTooLarge) throw refuse('request_too_large', { limitBytes: flowLimits.assetBytes })
    if (error instanceof AssetTypeUnknown) throw typeDiffers(declared, null)
    throw req.errored !== null || (req.destroyed && !req.complete) ? new ClientDisconnected() : error
  })
  if (stored.mimeType === declared) return stored
  await assetStore.remove(project, id)
  throw typeDiffers(declared, stored.mimeType)
}

/** Content types of callers for the formats that we store. */
const NAMES: Record<string, MediaType> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/webp': 'image/webp',
  'audio/wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/mpeg': 'audio/mpeg',
  'audio/mp3': 'audio/mpeg',
  'application/pdf': 'application/pdf',
}

const RESOLUTION = 'Send the bytes of a PNG, JPEG, WebP, WAV, MPEG audio or PDF file unchanged, with its Content-Type.'

/** @throws Refusal `invalid_request` for the Content-Type of a format that we don't store */
export function declaredType({ headers }: Pick<IncomingMessage, 'headers'>): MediaType {
  const name = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (Object.hasOwn(NAMES, name)) return NAMES[name]!
  throw notKept(name === '' ? 'Content-Type is missing.' : `Content-Type ${name.slice(0, 64)} is not taken.`)
}

/** The size that a body declares; null if it declares none. */
export function declaredBytes({ headers }: Pick<IncomingMessage, 'headers'>): number | null {
  const declared = headers['content-length']
  return declared === undefined || declared === '0' ? null : Number(declared)
}

/** @param sent the format of the bytes; null if it is not one that we store */
export function typeDiffers(declared: MediaType, sent: MediaType | null): Refusal {
  const what = sent === null ? 'nothing that is taken' : sent
  return notKept(`Content-Type says ${declared}, and by its first bytes the body is ${what}.`)
}

function notKept(reason: string): Refusal {
  return refuse('invalid_request', { reason, resolution: RESOLUTION }, { param: 'Content-Type' })
}
