import type { Failed } from '../../api/failed.ts'

/** Somebody wrote it, whatever role it speaks in. */
export interface TypedMessage {
  kind: 'message'
  id: string
  role: 'user' | 'assistant'
  text: string
  /** `data:` URLs. */
  images: string[]
}

/** What a model wants to have called; `result` is what somebody says that it answered. */
export interface ToolCall {
  id: string
  name: string
  arguments: string
  result: string
}

export interface Answer {
  model: string
  /** `max_tokens`, as it was asked for; null: as the model has it. */
  maxTokens: number | null
  /** `stopped`: nobody reads on, and the call goes on to its end. */
  state: 'streaming' | 'whole' | 'stopped' | 'refused'
  text: string
  toolCalls: ToolCall[]
  /** Under which the ledger has the call; null: none was admitted yet. */
  invocation: string | null
  /** Milliseconds from sending to the first of the answer, and to its end. */
  firstMs: number | null
  totalMs: number | null
  usage: { prompt: number; completion: number } | null
  /** Micro-USD; null: not known yet. */
  chargedMicro: number | null
  refusal: AnswerRefusal | null
}

/** Why there is no answer, and what would clear that; with the facts of the refusal, as far as there are any. */
export interface AnswerRefusal extends Failed {
  details: Readonly<Record<string, unknown>>
}

/** The answers of all models to what stands above, side by side. */
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
  /** As they were typed, by their names. */
  parameters: Record<string, string>
  /** Answers that are no longer shown: what they cost is still spent. */
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

/** Every answer that was asked for, also those that are no longer shown. */
export function allAnswers({ entries, replaced }: Conversation): Answer[] {
  return [...replaced, ...answersOf(entries)]
}

export function answersOf(entries: Entry[]): Answer[] {
  return entries.flatMap((entry) => (entry.kind === 'answers' ? entry.columns : []))
}
