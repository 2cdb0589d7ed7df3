import type { Pool } from 'undici'
import { MEDIA_HEAD_BYTES, mediaTypeOf } from '@gateway/api/media-type'
import { openChunkQueue } from './chunk-queue.ts'
import { type Exchange, type ExchangeRequest, startExchange } from './exchange.ts'
import type { MediaCall, MediaWish } from './media-port.ts'
import { ProviderFailure } from './provider-failure.ts'
import { UnfitAnswer } from './untrusted.ts'
import type { WireRequest } from './wire-format.ts'

// Hands an image or a sound on while it comes.
//   M1  Nothing is forwarded before the bytes are known to be of a kind that was asked for.
//   M2  Anyone who stores has ended before this does, so that nothing of a failed attempt is left when the next one begins.
//   M3  It rejects with what the exchange fails with, not with what storing made of that.

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
      whole.resolve() // anyone who stores says why
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
    storing.catch(() => {}) // it is waited for below
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

/** A piece of the body of an answer, and what of the asset is in it. */
export interface MediaDecoder {
  /** Throws `UnfitAnswer` or `ErrorInAnswer`. */
  take(bytes: Buffer): Buffer | null
  /** The body has ended. Throws `UnfitAnswer` or `ErrorInAnswer` where it is not whole. */
  end(): void
}

/** How a call for media is written for a provider, and how its answer is read. Pure: no connection, no clock. */
export interface MediaWire {
  /** Throws `NotInWireFormat`. */
  request(model: string, wish: MediaWish): WireRequest
  /** What the content type of an answer must begin with, one of them. */
  contentTypes(wish: MediaWish): readonly string[]
  /** For one answer. */
  openDecoder(wish: MediaWish): MediaDecoder
  /** How many bytes an answer may have whose asset has this many at most. */
  wireBytes(wish: MediaWish, maxBytes: number): number
}
