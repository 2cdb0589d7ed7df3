import type { IncomingMessage } from 'node:http'

/** Reads a body of at most `most` bytes; null if it is longer. */
export async function readBody(req: IncomingMessage, most: number): Promise<Buffer | null> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of req as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > most) return null
    parts.push(part)
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}
