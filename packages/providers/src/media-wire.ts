import type { MediaWish } from './media-port.ts'
import type { WireRequest } from './wire-format.ts'

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
  /** How many bytes an answer may have whose asset has so many at most. */
  wireBytes(wish: MediaWish, maxBytes: number): number
}
