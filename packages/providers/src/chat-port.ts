import { hash } from 'node:crypto'
import type { Choice, ChunkChoice } from '@gateway/api/chat-answer'
import type { TimingLog } from './timing-log.ts'

/** The port to providers of chat products: calls and responses, without anything that identifies a provider. */

/** One way to serve a product: a provider's name and the model's name there. */
export interface Route {
  provider: string
  model: string
}

/** Names a call in the records of the operator. */
export interface CallReference {
  product: string
  invocation: string
}

export interface ChatCall {
  /** In order of preference. */
  routes: readonly Route[]
  /** The attempts of a call without one are not observed. */
  reference?: CallReference | undefined
  /** Projects share the connections of a provider. */
  project: string
  /**
   * Compact JSON text of one object with `messages` (never empty) and all forwarded parameters except `model`,
   * `max_tokens`, `max_completion_tokens`, `stream` and `stream_options`, which are prepended.
   */
  forwarded: string
  /** Output token cap; always sent to the provider. */
  outputCap: number
  stream: boolean
  /** Aborts the call; the promise or the stream then fails with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Aborts the call while it waits for a connection. A call that was sent continues. */
  disconnected?: AbortSignal | undefined
  /** Notes the tries of the call. */
  timing?: TimingLog | undefined
}

export type ChatAnswer =
  | {
      kind: 'completion'
      completion: Completion
      /** From sending the call to the end of the response. */
      remoteMs: number
      /** The route that responded, for the operator's records. Never for a caller. */
      route: Route
    }
  | {
      kind: 'stream'
      /**
       * Must be read once, to its end; leaving early ends the call at the provider. Throws `ProviderFailure` if the
       * response is truncated, so a stream that ends normally is complete.
       */
      chunks: AsyncIterable<ChatChunk>
      route: Route
    }

export interface Completion {
  choices: Choice[]
  /** null if the provider reported none, or an invalid one. */
  usage: Usage | null
}

export interface ChatChunk {
  choices: ChunkChoice[]
  usage: Usage | null
}

export interface Usage {
  promptTokens: number
  completionTokens: number
  details: {
    prompt_tokens_details?: Record<string, number>
    completion_tokens_details?: Record<string, number>
  }
}

// Bounds on what is accepted from a provider, regardless of what it sends. The largest legitimate response is 8,192
// tokens: as a stream with log probabilities of 20 alternatives each about 10 MB, without them below 3 MB.

/** A response without streaming, in bytes. */
export const maxCompletionBytes = 12 * 1024 * 1024

/** A whole stream, in bytes. */
export const maxStreamBytes = 16 * 1024 * 1024

/** One event of a stream, in characters. */
export const maxEventCharacters = 1024 * 1024

/** The body of an error response, in bytes; for a longer one only the status is used. */
export const maxErrorBytes = 64 * 1024

/** Chunks buffered for a slow reader before the connection to the provider is paused. One read of 64 KB has about 400. */
export const maxWaitingChunks = 512

/** Tool calls in one response. */
export const maxToolCalls = 128

/** ID formats that many providers use, so they reveal nothing. */
const saysNothing = /^(call_[A-Za-z0-9]{8,40}|[A-Za-z0-9]{9})$/

/**
 * Returns the ID of a tool call as callers see it. An ID whose format identifies the provider (`toolu_…`,
 * `chatcmpl-tool-…`) is replaced deterministically. No reverse lookup is needed: callers send back both the call and
 * its result, and providers only compare the two.
 */
export function callIdOf(providersId: string): string {
  return saysNothing.test(providersId) ? providersId : `call_${hash('sha256', providersId).slice(0, 24)}`
}
