import type { Failed } from '../../api/failed.ts'

/** Message typed by the user, in either role. */
export interface TypedMessage {
  kind: 'message'
  id: string
  role: 'user' | 'assistant'
  text: string
  /** `data:` URLs. */
  images: string[]
}

/** Tool call requested by a model; `result` is typed by the user. */
export interface ToolCall {
  id: string
  name: string
  arguments: string
  result: string
}

export interface Answer {
  model: string
  /** Requested `max_tokens`, or null for the model's default. */
  maxTokens: number | null
  /** `stopped`: reading stopped, while the call continues to its end. */
  state: 'streaming' | 'whole' | 'stopped' | 'refused'
  text: string
  toolCalls: ToolCall[]
  /** Invocation ID in the ledger, or null before admission. */
  invocation: string | null
  /** Milliseconds from the request to the first token, and to the end. */
  firstMs: number | null
  totalMs: number | null
  usage: { prompt: number; completion: number } | null
  /** Micro-USD, or null while unknown. */
  chargedMicro: number | null
  refusal: AnswerRefusal | null
}

/** Error in place of a response, with the details of the refusal, if any. */
export interface AnswerRefusal extends Failed {
  details: Readonly<Record<string, unknown>>
}

/** Responses of all models to the messages so far, side by side. */
export interface Answers {
  kind: 'answers'
  id: string
  columns: Answer[]
}

export type Entry = TypedMessage | Answers

export interface Conversation {
  system: string
  entries: Entry[]
  draft: Omit<TypedMessage, 'kind' | 'id'>
  /** Typed text by parameter name. */
  parameters: Record<string, string>
  /** Responses that are no longer shown but still count toward the charge. */
  replaced: Answer[]
}

export const newConversation: Conversation = {
  system: '',
  entries: [],
  draft: { role: 'user', text: '', images: [] },
  parameters: {},
  replaced: [],
}

export function newAnswer(model: string, maxTokens: number | null = null): Answer {
  return {
    model,
    maxTokens,
    state: 'streaming',
    text: '',
    toolCalls: [],
    invocation: null,
    firstMs: null,
    totalMs: null,
    usage: null,
    chargedMicro: null,
    refusal: null,
  }
}

/** All responses, including those no longer shown. */
export function allAnswers({ entries, replaced }: Conversation): Answer[] {
  return [...replaced, ...answersOf(entries)]
}

export function answersOf(entries: Entry[]): Answer[] {
  return entries.flatMap((entry) => (entry.kind === 'answers' ? entry.columns : []))
}
