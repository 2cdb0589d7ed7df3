import type { IncomingMessage } from 'node:http'
import type { MediaType } from '@gateway/contracts/media-type'
import { refuse, type Refusal } from '@gateway/contracts/refusal'

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

const RESOLUTION = 'Send the bytes of a PNG, JPEG, WebP, WAV or MPEG audio file as they are, with its Content-Type.'

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
