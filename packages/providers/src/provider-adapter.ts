import type { ChatAnswer, ChatCall, Route, CallReference } from './chat-port.ts'
import type { FairConnections } from './fair-connections.ts'
import type { ProviderFailure } from './provider-failure.ts'
import type { EmbeddingInputs } from '@gateway/api/embeddings'
import type { TimingLog } from './timing-log.ts'
import type { WireRequest } from './wire-format.ts'

interface Attempt {
  route: Route
  /** Time left for the call. */
  leftMs: number
  /** Called once the call has its connection: the time of the provider starts. */
  connected?: (() => void) | undefined
}

/** One attempt at one provider. */
export interface ChatAttempt extends Attempt, Omit<ChatCall, 'routes' | 'reference'> {
  /** Called once when a stream ends after its first chunk, with null if complete. Not called if its reader left. */
  ended: (failure: ProviderFailure | null) => void
}

export interface MediaAttempt<Stored> extends Attempt, Omit<MediaCall<Stored>, 'routes' | 'reference'> {}

export interface EmbeddingAttempt extends Attempt, Omit<EmbeddingCall, 'routes' | 'reference'> {}

/** Interface of a provider of any kind. */
export interface ProviderAdapter {
  /** Rejects with a `ProviderFailure`, or with the signal's reason. */
  chat(attempt: ChatAttempt): Promise<ChatAnswer>
  /** Rejects with a `ProviderFailure`, the signal's reason, or the error of the store. */
  media<Stored>(attempt: MediaAttempt<Stored>): Promise<MediaAnswer<Stored>>
  /** Rejects with a `ProviderFailure`, or with the signal's reason. */
  embed(attempt: EmbeddingAttempt): Promise<EmbeddingAnswer>
  connections: Pick<FairConnections, 'used' | 'waiting'>
  /** Waits for running calls, then closes the connections. */
  close(): Promise<void>
}

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

/** The port to providers of image and audio products, without anything that identifies a provider. */

/** The media to generate. The provider chooses omitted settings. */
export type MediaWish =
  | { kind: 'image'; prompt: string; size?: string; /** png, jpeg or webp. */ format?: string; quality?: string }
  | {
      kind: 'audio'
      text: string
      /** null for the provider's default, if it has one. */
      voice: string | null
      /** wav or mp3. Default: wav. */
      format?: string
    }

export interface MediaCall<Stored> {
  /** In order of preference. */
  routes: readonly Route[]
  /** The attempts of a call without one are not observed. */
  reference?: CallReference | undefined
  /** Projects share the connections of a provider. */
  project: string
  wish: MediaWish
  /** A larger response is a failure. */
  maxBytes: number
  /**
   * Stores the bytes as they arrive; they are of the requested kind. Called once per attempt. If the response is
   * truncated, the iterable throws and the stored part must be discarded. An error of the store itself ends the call
   * and is rethrown unchanged.
   */
  store: (bytes: AsyncIterable<Buffer>) => Promise<Stored>
  /** Aborts the call; the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Notes the tries of the call. */
  timing?: TimingLog | undefined
}

export interface MediaAnswer<Stored> {
  kind: 'media'
  stored: Stored
  /** From sending the call to the end of the response. */
  remoteMs: number
  /** The route that responded, for the operator's records. Never for a caller. */
  route: Route
}
