import type { Failed } from '../../api/failed.ts'
import type { BodyOf } from '@gateway/api/api-route'
import type { gatewayRoutes } from '@gateway/api/gateway-routes'

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
  /** Stays the same when the response is replaced. */
  id: string
  model: string
  /** Requested `max_tokens`, or null for the model's default. */
  maxTokens: number | null
  /**
   * `stopped`: reading stopped, while the call continues to its end. `lost`: its charge can't be read, because the page
   * was left before the ID of the call arrived, or because the call is not in this project.
   */
  state: 'streaming' | 'whole' | 'stopped' | 'refused' | 'lost'
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

export function newAnswer(id: string, model: string, maxTokens: number | null = null): Answer {
  return {
    id,
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

/** Conversation with a change of each response, shown or not. */
export function withAnswers(conversation: Conversation, change: (answer: Answer) => Answer): Conversation {
  return {
    ...conversation,
    replaced: conversation.replaced.map(change),
    entries: conversation.entries.map((entry) =>
      entry.kind === 'answers' ? { ...entry, columns: entry.columns.map(change) } : entry,
    ),
  }
}

export function answersOf(entries: Entry[]): Answer[] {
  return entries.flatMap((entry) => (entry.kind === 'answers' ? entry.columns : []))
}

/** The text of a conversation. Messages that have only images are left out. */
export function withoutImages(conversation: Conversation): Conversation {
  const entries = conversation.entries.flatMap((entry): Entry[] => {
    if (entry.kind === 'answers' || entry.images.length === 0) return [entry]
    return entry.text === '' ? [] : [{ ...entry, images: [] }]
  })
  return { ...conversation, entries, draft: { ...conversation.draft, images: [] } }
}

/** A response that is no longer shown: only its charge counts. */
export const withoutText = (answer: Answer): Answer => ({ ...answer, text: '', toolCalls: [] })

/**
 * Puts removed entries back. Draft and settings stay unchanged, and what was asked since still counts toward the charge.
 * @param keepsChanges whether entries changed since stay, or those of `earlier` replace them; messages appended since stay
 */
export function restored(
  earlier: Conversation,
  now: Conversation,
  { keepsChanges }: { keepsChanges: boolean },
): Conversation {
  const present = new Map(allAnswers(now).map((answer) => [answer.id, answer]))
  const { entries: before, replaced } = withAnswers(earlier, (answer) => {
    const { invocation, chargedMicro, usage } = present.get(answer.id) ?? answer
    return { ...answer, invocation, chargedMicro, usage }
  })
  const known = new Set(before.map(({ id }) => id))
  const isKept = ({ kind, id }: Entry) => keepsChanges || (kind === 'message' && !known.has(id))
  const kept = new Map(now.entries.filter(isKept).map((entry) => [entry.id, entry]))
  const appended = [...kept.values()].filter(({ id }) => !known.has(id))
  const entries = [...before.map((entry) => kept.get(entry.id) ?? entry), ...appended]
  const counted = new Set(allAnswers({ ...now, entries, replaced }).map(({ id }) => id))
  const since = [...present.values()].filter(({ id }) => !counted.has(id))
  return { ...now, entries, replaced: [...replaced, ...since.map(withoutText)] }
}

export type ChatBody = BodyOf<typeof gatewayRoutes.completeChat>
export type ChatMessage = ChatBody['messages'][number]

/** Messages for the model of a column: the typed messages and that model's own responses. */
export function messagesOf(
  { system, entries }: Pick<Conversation, 'system' | 'entries'>,
  column: number,
): ChatMessage[] {
  const messages = entries.flatMap((entry) => entryMessages(entry, column))
  return system.trim() === '' ? messages : [{ role: 'system', content: system }, ...messages]
}

function entryMessages(entry: Entry, column: number): ChatMessage[] {
  if (entry.kind === 'answers') return answerMessages(entry.columns[column] ?? entry.columns[0])
  const { role, text, images } = entry
  if (role === 'assistant' || images.length === 0) return [{ role, content: text }]
  const parts = images.map((url) => ({ type: 'image_url' as const, image_url: { url } }))
  return [{ role, content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts] }]
}

/** An empty response is omitted. */
function answerMessages(answer: Answer | undefined): ChatMessage[] {
  if (!answer || (answer.text === '' && answer.toolCalls.length === 0)) return []
  const { text, toolCalls } = answer
  if (toolCalls.length === 0) return [{ role: 'assistant', content: text }]
  const calls = toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: given },
  }))
  return [
    { role: 'assistant', content: text === '' ? null : text, tool_calls: calls },
    ...toolCalls.map(({ id, result }) => ({ role: 'tool' as const, tool_call_id: id, content: result })),
  ]
}

/** Request body of a column, both for sending and for the code samples. */
export function chatBody(
  conversation: Pick<Conversation, 'system' | 'entries'>,
  { model, column, values }: { model: string; column: number; values: Record<string, unknown> },
): ChatBody {
  return {
    model,
    messages: messagesOf(conversation, column),
    ...values,
    stream: true,
    stream_options: { include_usage: true },
  }
}

/**
 * Largest number of output tokens that would be admitted after a refusal by the wallet, the key limit or the context
 * window, or null if fewer tokens don't help.
 * @param asked requested output tokens and the price of one output token
 */
export function admissibleTokens(
  { code, details }: Pick<AnswerRefusal, 'code' | 'details'>,
  asked: { tokens: number; completionPico: bigint },
): number | null {
  const fact = (name: string) => Number(details[name] ?? 0)
  const fewer = (): number => {
    if (code === 'insufficient_budget') return fact('affordableMaxTokens')
    if (code === 'context_limit') return Math.min(fact('maxOutputTokens'), fact('contextLength') - fact('promptTokens'))
    if ((code !== 'key_limit' && code !== 'budget_reached') || asked.completionPico === 0n) return 0
    const missingMicro = fact('neededMicro') + fact('spentMicro') + fact('reservedMicro') - fact('limitMicro')
    return asked.tokens - Math.ceil((missingMicro * PICO) / Number(asked.completionPico))
  }
  const tokens = fewer()
  return tokens > 0 && tokens < asked.tokens ? tokens : null
}

/** Pico-USD per micro-USD. */
const PICO = 1_000_000

/** Charge of a conversation so far, in micro-USD, and the numbers of responses whose charge is pending and unknown. */
export function spent(conversation: Conversation): { micro: number; open: number; unknown: number } {
  const answers = allAnswers(conversation)
  const open = answers.filter(({ chargedMicro }) => chargedMicro === null)
  const unknown = open.filter(({ state }) => state === 'lost').length
  const micro = answers.reduce((sum, { chargedMicro }) => sum + (chargedMicro ?? 0), 0)
  return { micro, open: open.length - unknown, unknown }
}
