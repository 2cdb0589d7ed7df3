import type { IncomingMessage } from 'node:http'
import { flowLimits } from '@gateway/api/limits'
import type { MediaType } from '@gateway/api/media-type'
import { type Refusal, refuse } from '@gateway/api/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { AssetTooLarge, AssetTypeUnknown } from './blob-backend.ts'
import type { AssetStore, StoredAsset } from './asset-store.ts'

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

/** What callers call the types that are kept. */
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
}

const RESOLUTION = 'Send the bytes of a PNG, JPEG, WebP, WAV or MPEG audio file unchanged, with its Content-Type.'

/** @throws Refusal `invalid_request` for a Content-Type of nothing that is kept */
export function declaredType({ headers }: Pick<IncomingMessage, 'headers'>): MediaType {
  const name = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (Object.hasOwn(NAMES, name)) return NAMES[name]!
  throw notKept(name === '' ? 'Content-Type is missing.' : `Content-Type ${name.slice(0, 64)} is not taken.`)
}

/** @param sent what the bytes are; null where they are nothing that is kept */
export function typeDiffers(declared: MediaType, sent: MediaType | null): Refusal {
  const what = sent === null ? 'nothing that is taken' : sent
  return notKept(`Content-Type says ${declared}, and by its first bytes the body is ${what}.`)
}

function notKept(reason: string): Refusal {
  return refuse('invalid_request', { reason, resolution: RESOLUTION }, { param: 'Content-Type' })
}
