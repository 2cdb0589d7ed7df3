import type { Pool } from 'undici'
import { maxStreamBytes } from './answer-limits.ts'
import type { ChatChunk } from './chat-port.ts'
import { openChunkQueue } from './chunk-queue.ts'
import { startExchange } from './exchange.ts'
import type { Exchange, ExchangeRequest } from './exchange.ts'
import { ProviderFailure } from './provider-failure.ts'
import { serverSentEvents } from './server-sent-events.ts'
import { UnfitAnswer } from './untrusted.ts'
import { EventTooLarge, type WireFormat } from './wire-format.ts'

interface StreamRequest extends Omit<ExchangeRequest, 'maxBytes'> {
  /** Called once when the stream has ended after its first chunk: with null if it is complete. Not called when its reader left. */
  ended: (failure: ProviderFailure | null) => void
}

/**
 * Sends the request and resolves at the first chunk; what fails before it rejects the promise, what fails after it
 * is thrown by the iterable.
 *   S1  A stream is complete when a finish reason has come and then its end marker or the proper end of the body. Any
 *       other end is `cut`, so that a broken answer never looks like a whole one.
 *   S2  Events that say nothing don't count as the first byte: who says nothing may still be replaced, and isn't charged.
 *   S3  A slow reader pauses the connection; a reader that leaves closes it.
 */
export function readStream(
  pool: Pool,
  { ended, ...request }: StreamRequest,
  wire: WireFormat,
): Promise<AsyncIterable<ChatChunk>> {
  return new Promise((resolve, reject) => {
    const { provider } = request
    const read = wire.openEvents()
    let begun = false
    let finishReasonSeen = false
    let complete = false

    const queue = openChunkQueue<ChatChunk>({
      full: () => exchange.pause(),
      drained: () => exchange.resume(),
      left: () => exchange.leave(),
    })
    const { contentType, open } = wire.framing ?? serverSentEvents
    const frames = open(takeEvent)

    function take(bytes: Buffer): void {
      try {
        frames.feed(bytes)
      } catch (error) {
        if (!(error instanceof EventTooLarge)) throw error
        throw new ProviderFailure({
          kind: 'too_large',
          provider,
          detail: 'an event is too large',
          afterFirstByte: begun,
        })
      }
    }

    function takeEvent(data: string): void {
      if (complete) return
      const chunk = read(data)
      if (chunk === null) return
      if (chunk === 'end') return finish()
      finishReasonSeen ||= chunk.choices.some((choice) => choice.finish_reason !== null)
      queue.push(chunk)
      if (begun) return
      begun = true
      exchange.firstByte(true)
      resolve(queue.items)
    }

    function finish(): void {
      if (!finishReasonSeen)
        throw new ProviderFailure({
          kind: 'cut',
          provider,
          detail: 'the stream has no finish reason',
          afterFirstByte: begun,
        })
      complete = true
      queue.end()
      ended(null)
    }

    const exchange: Exchange = startExchange(
      pool,
      { ...request, maxBytes: maxStreamBytes },
      {
        begin(headers) {
          if (!String(headers['content-type']).startsWith(contentType))
            throw new UnfitAnswer(`the content type is not ${contentType}`)
        },
        take,
        end() {
          if (!complete) finish()
        },
        fail(reason) {
          queue.fail(reason)
          reject(reason)
          if (begun && !complete && reason instanceof ProviderFailure) ended(reason)
        },
      },
    )
  })
}
