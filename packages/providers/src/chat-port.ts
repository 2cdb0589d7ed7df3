/** The port to whoever serves chat products: what a call needs and what it answers, free of any provider's traces. */

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
