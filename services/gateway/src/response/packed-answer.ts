import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

/** What a repeat is answered with. */
export interface SavedAnswer {
  contentType: string
  body: string
}

// Events of a stream are alike, so a stream that is too large to be kept as it was sent is small when it is packed. What is
// kept says by its content type that it is; nobody outside ever sees that one.

const PACKED = '; packed=gzip'
const [pack, unpack] = [promisify(gzip), promisify(gunzip)]

export async function packAnswer({ contentType, body }: SavedAnswer): Promise<SavedAnswer> {
  return { contentType: contentType + PACKED, body: (await pack(body)).toString('base64') }
}

/** The answer as it was sent, byte for byte. */
export async function unpackAnswer({ contentType, body }: SavedAnswer): Promise<SavedAnswer> {
  if (!contentType.endsWith(PACKED)) return { contentType, body }
  const bytes = await unpack(Buffer.from(body, 'base64'))
  return { contentType: contentType.slice(0, -PACKED.length), body: bytes.toString() }
}
