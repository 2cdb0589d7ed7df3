import type { Pool } from 'undici'
import { maxCompletionBytes } from './answer-limits.ts'
import type { Completion } from './chat-port.ts'
import { startExchange } from './exchange.ts'
import type { Exchange, ExchangeRequest } from './exchange.ts'
import { parseUntrusted, UnfitAnswer } from './untrusted.ts'
import type { WireFormat } from './wire-format.ts'

/**
 * Sends the request and reads the whole answer. Nothing of it is handed on before its end, so any failure may be
 * followed by another attempt.
 */
export function readCompletion(
  pool: Pool,
  request: Omit<ExchangeRequest, 'maxBytes'>,
  wire: WireFormat,
): Promise<Completion> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const exchange: Exchange = startExchange(
      pool,
      { ...request, maxBytes: maxCompletionBytes },
      {
        begin(headers) {
          if (!String(headers['content-type']).startsWith('application/json'))
            throw new UnfitAnswer('the content type is not application/json')
          exchange.firstByte(false)
        },
        take: (bytes) => void parts.push(bytes),
        end: () => resolve(wire.readCompletion(parseUntrusted(whole(parts), 'the body'))),
        fail: reject,
      },
    )
  })
}

function whole(parts: Buffer[]): string {
  const [first = Buffer.alloc(0)] = parts
  return (parts.length === 1 ? first : Buffer.concat(parts)).toString()
}
