import type { IncomingMessage } from 'node:http'

const maxRequestBytes = 32 * 1024 * 1024

/** Reads the whole request body. Rejects beyond 32 MiB and if the caller disconnects. */
export function readBody(req: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0
    req.on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes > maxRequestBytes) reject(new Error('the request is too large'))
      else parts.push(part)
    })
    req.on('end', () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)))
    req.on('error', reject)
  })
}
