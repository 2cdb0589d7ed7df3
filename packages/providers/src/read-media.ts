import type { Pool } from 'undici'
import { MEDIA_HEAD_BYTES, mediaTypeOf } from '@gateway/api/media-type'
import { openChunkQueue } from './chunk-queue.ts'
import { type Exchange, type ExchangeRequest, startExchange } from './exchange.ts'
import type { MediaCall, MediaWish } from './media-port.ts'
import { ProviderFailure } from './provider-failure.ts'
import { UnfitAnswer } from './untrusted.ts'
import type { WireRequest } from './wire-format.ts'

// Streams an image or audio to the store as it arrives.
//   M1  Nothing is forwarded before the bytes are known to be of the requested kind.
//   M2  The store finishes first, so that nothing of a failed attempt is left when the next one starts.
//   M3  Rejects with the failure of the exchange, not with the error that it causes in the store.

export async function readMedia<Stored>(
  pool: Pool,
  request: Omit<ExchangeRequest, 'maxBytes'>,
  wire: MediaWire,
  { wish, maxBytes, store }: Pick<MediaCall<Stored>, 'wish' | 'maxBytes' | 'store'>,
): Promise<Stored> {
  const whole = Promise.withResolvers<void>()
  const decoder = wire.openDecoder(wish)
  let head: Buffer | null = Buffer.alloc(0)
  let bytes = 0
  let storing: Promise<Stored> | null = null
  let broken: { reason: unknown } | null = null

  const queue = openChunkQueue<Buffer>({
    full: () => exchange.pause(),
    drained: () => exchange.resume(),
    left: () => {
      exchange.leave()
      whole.resolve() // the store has the reason
    },
  })

  function take(chunk: Buffer): void {
    bytes += chunk.length
    if (bytes > maxBytes)
      throw new ProviderFailure({ provider: request.provider, kind: 'too_large', detail: `over ${maxBytes} bytes` })
    if (head === null) return queue.push(chunk)
    head = Buffer.concat([head, chunk])
    if (head.length < MEDIA_HEAD_BYTES) return
    if (!fits(head, wish)) throw new UnfitAnswer(`the bytes are no ${wish.kind} of a known kind`) // M1
    queue.push(head)
    head = null
    storing = store(queue.items)
    storing.catch(() => {}) // awaited below
  }

  const exchange: Exchange = startExchange(
    pool,
    { ...request, maxBytes: wire.wireBytes(wish, maxBytes) },
    {
      begin(headers) {
        const type = String(headers['content-type']).toLowerCase()
        if (!wire.contentTypes(wish).some((start) => type.startsWith(start)))
          throw new UnfitAnswer(`the content type is none of ${wire.contentTypes(wish).join(', ')}`)
        exchange.firstByte(false)
      },
      take(chunk) {
        const said = decoder.take(chunk)
        if (said !== null) take(said)
      },
      end() {
        decoder.end()
        if (head !== null) throw new UnfitAnswer(`the answer holds no ${wish.kind}`)
        queue.end()
        whole.resolve()
      },
      fail(reason) {
        broken = { reason }
        queue.fail(reason)
        whole.resolve()
      },
    },
  )

  await whole.promise
  const stored = await settled(storing as Promise<Stored> | null) // M2
  const failed = broken as { reason: unknown } | null
  if (failed) throw failed.reason // M3
  if (stored === null || stored.status === 'rejected') throw stored?.reason
  return stored.value
}

function fits(head: Buffer, { kind }: MediaWish): boolean {
  return mediaTypeOf(head)?.startsWith(`${kind}/`) ?? false
}

async function settled<T>(work: Promise<T> | null): Promise<PromiseSettledResult<T> | null> {
  return work === null ? null : (await Promise.allSettled([work]))[0]
}

/** Extracts the bytes of the asset from the pieces of a response body. */
export interface MediaDecoder {
  /** Throws `UnfitAnswer` or `ErrorInAnswer`. */
  take(bytes: Buffer): Buffer | null
  /** The body has ended. Throws `UnfitAnswer` or `ErrorInAnswer` if it is incomplete. */
  end(): void
}

/** Writes media requests for a provider and reads its responses. Pure: no connection, no clock. */
export interface MediaWire {
  /** Throws `NotInWireFormat`. */
  request(model: string, wish: MediaWish): WireRequest
  /** Accepted prefixes of the response content type. */
  contentTypes(wish: MediaWish): readonly string[]
  /** Opens a decoder for one response. */
  openDecoder(wish: MediaWish): MediaDecoder
  /** Maximum response bytes for an asset of at most `maxBytes`. */
  wireBytes(wish: MediaWish, maxBytes: number): number
}
