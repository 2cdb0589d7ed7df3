import type { CallReference, Route } from './chat-port.ts'
import type { TimingLog } from './timing-log.ts'

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
