import { hash } from 'node:crypto'

/** The port to anyone who serves chat products: what a call needs and what it answers, free of any provider's traces. */

/** One way to serve a product: a provider's name and the model's name there. */
export interface Route {
  provider: string
  model: string
}

export interface ChatCall {
  /** In order of preference. */
  routes: readonly Route[]
  /**
   * Compact JSON text of one object with `messages` (never empty) and all forwarded parameters except `model`,
   * `max_tokens`, `max_completion_tokens`, `stream` and `stream_options`, which are put in front of it.
   */
  forwarded: string
  /** Output tokens at most; always sent to the provider. */
  outputCap: number
  stream: boolean
  /** Ends the call; the promise or the stream then fails with the signal's reason. */
  signal?: AbortSignal | undefined
}

export type ChatAnswer =
  | {
      kind: 'completion'
      completion: Completion
      /** From sending the call to the end of the answer. */
      remoteMs: number
      /** The route that answered, for the operator's records. Never for a caller. */
      route: Route
    }
  | {
      kind: 'stream'
      /**
       * To be read once, to its end; leaving early ends the call at the provider. Throws `ProviderFailure` when the answer
       * breaks off: a stream that ends by itself is complete.
       */
      chunks: AsyncIterable<ChatChunk>
      route: Route
    }

export interface Completion {
  choices: Choice[]
  /** null when the provider gave none, or none that makes sense. */
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

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

export interface Choice {
  index: 0
  message: AnswerMessage
  logprobs: Logprobs | null
  finish_reason: FinishReason
}

export interface AnswerMessage {
  role: 'assistant'
  content: string | null
  refusal: string | null
  tool_calls?: ToolCall[]
  reasoning_content?: string
  reasoning?: string
  reasoning_details?: ReasoningDetail[]
}

/** What a model thought, as its provider has to get it back (reasoning-seal.ts). */
export type ReasoningDetail =
  | { type: 'reasoning.text'; text: string; signature: string }
  /** Of a tool call, where it names one. */
  | { type: 'reasoning.encrypted'; data: string; id?: string }

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

export interface ChunkChoice {
  index: 0
  delta: Delta
  logprobs?: Logprobs
  finish_reason: FinishReason | null
}

export interface Delta {
  role?: 'assistant'
  content?: string | null
  refusal?: string
  tool_calls?: ToolCallDelta[]
  reasoning_content?: string
  reasoning?: string
  /** All of the answer's, in one delta. */
  reasoning_details?: ReasoningDetail[]
}

export interface ToolCallDelta {
  index: number
  id?: string
  type?: 'function'
  function?: { name?: string; arguments?: string }
}

export interface Logprobs {
  content: TokenLogprob[] | null
  refusal: TokenLogprob[] | null
}

export interface TokenLogprob extends TopLogprob {
  top_logprobs: TopLogprob[]
}

export interface TopLogprob {
  token: string
  logprob: number
  bytes: number[] | null
}

// Bounds of what is taken from a provider, no matter what it sends. The largest honest answer is 8,192 tokens; written as a
// stream with log-probabilities of 20 alternatives each that is about 10 MB, without them below 3 MB.

/** An answer that isn't streamed, in bytes. */
export const maxCompletionBytes = 12 * 1024 * 1024

/** A whole stream, in bytes. */
export const maxStreamBytes = 16 * 1024 * 1024

/** One event of a stream, in characters. */
export const maxEventCharacters = 1024 * 1024

/** The body of an error answer, in bytes; of a longer one only the status is used. */
export const maxErrorBytes = 64 * 1024

/** Chunks that wait for a slow reader before the provider's connection is paused. */
export const maxWaitingChunks = 64

/** Tool calls in one answer. */
export const maxToolCalls = 128

/** Forms of ids that many providers give, and that say nothing. */
const saysNothing = /^(call_[A-Za-z0-9]{8,40}|[A-Za-z0-9]{9})$/

/**
 * The id of a tool call as a caller sees it. Ids have a form by which a provider is known (`toolu_…`, `chatcmpl-tool-…`);
 * such a one is replaced, always by the same. It needn't be found again: callers send both ends of it back, the call and
 * its result, and providers only compare the two.
 */
export function callIdOf(providersId: string): string {
  return saysNothing.test(providersId) ? providersId : `call_${hash('sha256', providersId).slice(0, 24)}`
}
