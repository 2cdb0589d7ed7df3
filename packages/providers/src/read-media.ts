import type { Pool } from 'undici'
import { MEDIA_HEAD_BYTES, mediaTypeOf } from '@gateway/api/media-type'
import { openChunkQueue } from './chunk-queue.ts'
import { type Exchange, type ExchangeRequest, startExchange } from './exchange.ts'
import type { MediaCall, MediaWish, EmbeddingWish } from './provider-adapter.ts'
import { ProviderFailure } from './provider-failure.ts'
import { UnfitAnswer } from './untrusted.ts'
import type { WireRequest } from './wire-format.ts'
import { embeddingLimits } from '@gateway/api/limits'
import { isBase64 } from '@gateway/api/text-bytes'

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
      throw new ProviderFailure({
        provider: request.provider,
        kind: 'too_large',
        detail: `over ${maxBytes} bytes`,
        limitBytes: maxBytes,
      })
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
    { ...request, maxBytes: wire.wireBytes(wish, maxBytes), limitBytes: maxBytes },
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

/**
 * Checks the vectors of a response: one for each input, all of the requested length or, if none was requested, of one
 * length. Throws `UnfitAnswer`.
 */
export function readVectors(values: unknown[], { inputs, dimensions }: EmbeddingWish): Float32Array[] {
  const expected = inputs.kind === 'texts' ? inputs.texts.length : inputs.tokens.length
  if (values.length !== expected) throw new UnfitAnswer('the number of vectors is not the number of inputs')
  const vectors = values.map(vectorOf)
  const length = dimensions ?? vectors[0]!.length
  if (vectors.some((vector) => vector.length !== length)) throw new UnfitAnswer('a vector has another length')
  return vectors
}

/** Reads an array of numbers, or little-endian 32-bit floats in base64. */
function vectorOf(value: unknown): Float32Array {
  const vector = typeof value === 'string' ? decoded(value) : numbers(value)
  if (vector.length < 1 || vector.length > embeddingLimits.dimensions.max)
    throw new UnfitAnswer('a vector is empty or too long')
  if (!vector.every(Number.isFinite)) throw new UnfitAnswer('a vector has an entry that is not a finite number')
  return vector
}

function decoded(base64: string): Float32Array {
  if (!isBase64(base64)) throw new UnfitAnswer('a vector is not base64')
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.length % 4 !== 0) throw new UnfitAnswer('a vector is not made of 32-bit floats')
  return new Float32Array(new Uint8Array(bytes).buffer)
}

function numbers(value: unknown): Float32Array {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'number'))
    throw new UnfitAnswer('a vector is not an array of numbers')
  return Float32Array.from(value)
}
