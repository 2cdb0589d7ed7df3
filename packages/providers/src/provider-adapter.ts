import type { ChatAnswer, ChatCall, Route } from './chat-port.ts'
import type { MediaAnswer, MediaCall } from './media-port.ts'
import type { ProviderFailure } from './provider-failure.ts'

interface Attempt {
  route: Route
  /** How much of the call's time is left. */
  leftMs: number
}

/** One attempt at one provider. */
export interface ChatAttempt extends Attempt, Pick<ChatCall, 'forwarded' | 'outputCap' | 'stream' | 'signal'> {
  /** Called once when a stream has ended after its first chunk: with null if it is complete. Not called when its reader left. */
  ended: (failure: ProviderFailure | null) => void
}

export interface MediaAttempt<Stored> extends Attempt, Omit<MediaCall<Stored>, 'routes'> {}

/** What a provider of any kind has to offer. */
export interface ProviderAdapter {
  /** Rejects with a `ProviderFailure`, or with the signal's reason. */
  chat(attempt: ChatAttempt): Promise<ChatAnswer>
  /** Rejects with a `ProviderFailure`, with the signal's reason, or with what storing failed with. */
  media<Stored>(attempt: MediaAttempt<Stored>): Promise<MediaAnswer<Stored>>
  /** Waits for running calls, then closes the connections. */
  close(): Promise<void>
}
