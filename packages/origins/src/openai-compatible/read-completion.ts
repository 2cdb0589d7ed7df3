import type { Pool } from 'undici'
import { maxCompletionBytes } from '../answer-limits.ts'
import type { Completion } from '../chat-port.ts'
import { startExchange } from '../exchange.ts'
import type { Exchange, ExchangeRequest } from '../exchange.ts'
import { UnfitAnswer } from '../untrusted.ts'
import { throwInBandError } from './in-band-error.ts'
import { rebuildCompletion } from './rebuild-completion.ts'

/**
 * Sends the request and reads the whole answer. Nothing of it is handed on before its end, so any failure may be
 * followed by another attempt.
 */
export function readCompletion(pool: Pool, request: Omit<ExchangeRequest, 'maxBytes'>): Promise<Completion> {
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
        end() {
          const body = parseJson(parts)
          throwInBandError(body, request.origin)
          resolve(rebuildCompletion(body))
        },
        fail: reject,
      },
    )
  })
}

function parseJson(parts: Buffer[]): unknown {
  const [first = Buffer.alloc(0)] = parts
  try {
    return JSON.parse((parts.length === 1 ? first : Buffer.concat(parts)).toString())
  } catch {
    // The parser's own message quotes the answer.
    throw new UnfitAnswer('the body is not JSON')
  }
}
