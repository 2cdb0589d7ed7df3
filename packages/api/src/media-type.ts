// Formats of an asset (flows §4.7). Its declared type is never trusted: its first bytes decide.

export const mediaTypes = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'audio/wav',
  'audio/mpeg',
  'application/pdf',
] as const
export type MediaType = (typeof mediaTypes)[number]

/** Bytes needed to recognize a format. */
export const MEDIA_HEAD_BYTES = 12

/** Returns the format of the bytes by their start, or null if it is not one that we store. */
export function mediaTypeOf(head: Uint8Array): MediaType | null {
  if (begins(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png'
  if (begins(head, [0xff, 0xd8, 0xff])) return 'image/jpeg'
  if (begins(head, RIFF) && begins(head.subarray(8), WEBP)) return 'image/webp'
  if (begins(head, RIFF) && begins(head.subarray(8), WAVE)) return 'audio/wav'
  if (begins(head, PDF)) return 'application/pdf'
  if (begins(head, ID3) || isMpegFrame(head)) return 'audio/mpeg'
  return null
}

const bytesOf = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0))
const RIFF = bytesOf('RIFF')
const WEBP = bytesOf('WEBP')
const WAVE = bytesOf('WAVE')
const ID3 = bytesOf('ID3')
const PDF = bytesOf('%PDF-')

function begins(bytes: Uint8Array, start: number[]): boolean {
  return start.every((byte, at) => bytes[at] === byte)
}

/** The header of an MPEG audio frame: eleven bits of sync, and no field with its forbidden value. */
function isMpegFrame([sync = 0, kind = 0, rate = 0]: Uint8Array): boolean {
  const version = (kind >> 3) & 0b11
  const layer = (kind >> 1) & 0b11
  return (
    sync === 0xff &&
    kind >> 5 === 0b111 &&
    version !== 0b01 &&
    layer !== 0b00 && // AAC has it
    rate >> 4 !== 0b1111 &&
    ((rate >> 2) & 0b11) !== 0b11
  )
}
