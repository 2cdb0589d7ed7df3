import type { IncomingMessage } from 'node:http'

const MAX_BYTES = 8 * 1024 * 1024
const MAX_MS = 5_000

/**
 * Lets the rest of a refused body run out unread. A connection closed while its peer is still sending loses the answer on
 * the way; one that never stops sending is closed nevertheless.
 */
export function discardRest(req: IncomingMessage): void {
  if (req.complete) return
  let bytes = 0
  const close = () => req.socket.destroy()
  const timer = setTimeout(close, MAX_MS)
  req
    .on('data', (part: Buffer) => {
      bytes += part.length
      if (bytes > MAX_BYTES) close()
    })
    .on('error', () => {})
    .on('close', () => clearTimeout(timer))
    .on('end', () => clearTimeout(timer))
    .resume()
}
