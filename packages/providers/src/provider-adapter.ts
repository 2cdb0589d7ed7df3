import type { ChatAnswer, ChatCall, Route } from './chat-port.ts'
import type { EmbeddingAnswer, EmbeddingCall } from './embedding-port.ts'
import type { FairConnections } from './fair-connections.ts'
import type { MediaAnswer, MediaCall } from './media-port.ts'
import type { ProviderFailure } from './provider-failure.ts'

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
