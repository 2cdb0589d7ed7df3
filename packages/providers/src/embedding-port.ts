import type { EmbeddingInputs } from '@gateway/api/embeddings'
import type { CallReference, Route } from './chat-port.ts'
import type { TimingLog } from './timing-log.ts'
import type { WireRequest } from './wire-format.ts'

/** The port to providers of embedding products, without anything that identifies a provider. */

/** The vectors to compute. */
export interface EmbeddingWish {
  inputs: EmbeddingInputs
  /** Length of the vectors; null for the model's default. */
  dimensions: number | null
}

export interface EmbeddingCall extends EmbeddingWish {
  /** In order of preference. */
  routes: readonly Route[]
  /** The attempts of a call without one are not observed. */
  reference?: CallReference | undefined
  /** Projects share the connections of a provider. */
  project: string
  /** Aborts the call; the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Aborts the call while it waits for a connection. A call that was sent continues. */
  disconnected?: AbortSignal | undefined
  /** Notes the tries of the call. */
  timing?: TimingLog | undefined
}

export interface Embeddings {
  /** One for each input, in order, all of the same length. */
  vectors: Float32Array[]
  /** Null if the provider reported none, or an invalid one. */
  promptTokens: number | null
}

export interface EmbeddingAnswer extends Embeddings {
  kind: 'embeddings'
  /** The route that responded, for the operator's records. Never for a caller. */
  route: Route
}

/** Writes calls for a provider and reads its responses. No connection, no clock. */
export interface EmbeddingWire {
  /** Throws `NotInWireFormat`. */
  request(model: string, wish: EmbeddingWish): WireRequest
  /** Reads the body of a response. Throws `UnfitAnswer` or `ErrorInAnswer`. */
  read(body: unknown, wish: EmbeddingWish): Embeddings
}

/** Limit on a response, in bytes: 2,048 vectors of 3,072 numbers in base64. */
export const maxEmbeddingBytes = 34 * 1024 * 1024
