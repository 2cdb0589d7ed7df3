import type { IncomingMessage } from 'node:http'
import { refuse } from '@gateway/contracts/refusal'
import { ClientDisconnected } from './client-disconnected.ts'

/**
 * Reads a body of at most `limitBytes`, as it was sent. One that says that it is longer is refused unread, one that turns out to
 * be at the byte that is too much; the rest is left where it is, and `answerErrors` lets it run out.
 *
 * Content-Type is not looked at: bodies are JSON, whatever a client calls them.
 * @throws Refusal `request_too_large`, `invalid_request` for an encoded body
 * @throws ClientDisconnected
 */
export async function readBody(req: IncomingMessage, limitBytes: number): Promise<Buffer> {
  refuseUnread(req, limitBytes)
  const tooLarge = () => refuse('request_too_large', { limitBytes })

  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let bytes = 0

    function take(part: Buffer): void {
      bytes += part.length
      if (bytes > limitBytes) return leave(() => reject(tooLarge()))
      parts.push(part)
    }
    const end = () => leave(() => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts)))
    const disconnected = () => leave(() => reject(new ClientDisconnected()))

    function leave(answer: () => void): void {
      req.off('data', take).off('end', end).off('close', disconnected).off('error', disconnected)
      answer()
    }
    req.on('data', take).on('end', end).on('close', disconnected).on('error', disconnected)
  })
}

/**
 * What is to be said of a body before a byte of it is read; for who reads it as a stream.
 * @throws Refusal `request_too_large`, `invalid_request` for an encoded body
 */
export function refuseUnread({ headers }: Pick<IncomingMessage, 'headers'>, limitBytes: number): void {
  const { 'content-length': declared, 'content-encoding': encoding } = headers
  if (Number(declared) > limitBytes) throw refuse('request_too_large', { limitBytes })
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encoded(encoding)
}

function encoded(encoding: string) {
  return refuse('invalid_request', {
    reason: `The body is encoded as ${encoding.slice(0, 64)}, which is not taken.`,
    resolution: 'Send the body as it is, without Content-Encoding.',
  })
}
