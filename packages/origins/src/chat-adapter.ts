import type { ChatAnswer, ChatCall, Route } from './chat-port.ts'
import type { OriginFailure } from './origin-failure.ts'

/** One attempt at one origin. */
export interface ChatAttempt extends Pick<ChatCall, 'forwarded' | 'outputCap' | 'stream' | 'signal'> {
  route: Route
  /** How much of the call's time is left. */
  leftMs: number
  /** Told once how a stream ended after its first chunk: null if it is complete. Not told when its reader left. */
  ended: (failure: OriginFailure | null) => void
}

/** What an origin of any kind has to offer to serve chat products. */
export interface ChatAdapter {
  /** Rejects with an `OriginFailure`, or with the signal's reason. */
  chat(attempt: ChatAttempt): Promise<ChatAnswer>
  /** Waits for running calls, then closes the connections. */
  close(): Promise<void>
}
