import type { Route } from './chat-port.ts'

/** The port to anyone who serves image and audio products, free of any provider's traces. */

/** What is to be made. What is left out is the provider's to choose. */
export type MediaWish =
  | { kind: 'image'; prompt: string; size?: string; /** png, jpeg or webp. */ format?: string; quality?: string }
  | {
      kind: 'audio'
      text: string
      /** null: the provider's default, where it has one. */
      voice: string | null
      /** wav or mp3; left out: wav. */
      format?: string
    }

export interface MediaCall<Stored> {
  /** In order of preference. */
  routes: readonly Route[]
  wish: MediaWish
  /** An answer of more bytes is a failure. */
  maxBytes: number
  /**
   * Takes the bytes as they come, of a kind that fits the wish. Called once an attempt; if the answer breaks off the bytes
   * throw, and what was stored of them is to be forgotten. What it throws itself ends the call and is thrown unchanged.
   */
  store: (bytes: AsyncIterable<Buffer>) => Promise<Stored>
  /** Ends the call; the promise then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
}

export interface MediaAnswer<Stored> {
  kind: 'media'
  stored: Stored
  /** The route that answered, for the operator's records. Never for a caller. */
  route: Route
}
