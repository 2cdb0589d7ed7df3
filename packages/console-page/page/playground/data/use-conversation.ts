import { useEffect, useRef, useState } from 'react'
import { announceQuietly } from '../../frame/announcer.ts'
import { newIdempotencyKey as newId } from '../../api/queries.ts'
import {
  chatBody,
  answersOf,
  newAnswer,
  newConversation,
  restored,
  withAnswers,
  withoutImages,
  withoutText,
  type Answer,
  type Conversation,
  type Entry,
  type AnswerRefusal,
  type ToolCall,
  type ChatBody,
} from '../core/conversation.ts'
import type { keptIn } from './kept.ts'
import type { RefusalBody } from '@gateway/api/refusal'
import { ApiRefusal } from '@gateway/api-client/failures'
import { failedBy } from '../../api/failed.ts'
import { askingWith } from './use-playground-key.ts'
import type { z } from 'zod'
import type { chunkShape } from '@gateway/api/answer-shapes'

interface Asking {
  models: string[]
  values: Record<string, unknown>
  secret: string
}

/** Conversation stored in this tab, and its actions. */
export function useConversation(kept: ReturnType<typeof keptIn>) {
  const [conversation, setConversation] = useState(() => opened(kept.read('conversation') as Conversation | null))
  /** The conversation before its last loss of messages; null if nothing can be restored. */
  const [earlier, setEarlier] = useState<{ conversation: Conversation; isResent: boolean } | null>(null)
  const [lost, setLost] = useState<Lost>(null)
  const running = useRef(new Set<AbortController>())
  const isStreaming = answersOf(conversation.entries).some(({ state }) => state === 'streaming')
  const latest = useRef(conversation)
  useEffect(() => {
    latest.current = conversation
    if (!isStreaming) setLost(keep(kept, conversation))
  }, [kept, conversation, isStreaming])
  // While a response is streamed, writing the whole conversation for every token would be slow.
  useEffect(() => {
    if (!isStreaming) return
    const write = () => setLost(keep(kept, latest.current))
    const timer = setInterval(write, WRITE_EVERY_MS)
    addEventListener('pagehide', write)
    write()
    return () => {
      clearInterval(timer)
      removeEventListener('pagehide', write)
      write()
    }
  }, [kept, isStreaming])
  useEffect(() => {
    const all = running.current
    return () => stopAll(all)
  }, [])

  const change = (part: Partial<Conversation>) => setConversation((before) => ({ ...before, ...part }))
  const changeEntry = (id: string, next: (entry: Entry) => Entry) =>
    setConversation((before) => ({
      ...before,
      entries: before.entries.map((entry) => (entry.id === id ? next(entry) : entry)),
    }))
  /** Changes a response wherever it is: the ID of its call may arrive after it was replaced or removed. */
  const changeAnswer = (id: string, next: (answer: Answer) => Answer) => {
    const changed = (before: Conversation) =>
      withAnswers(before, (answer) => (answer.id === id ? next(answer) : answer))
    setConversation(changed)
    setEarlier((before) => before && { ...before, conversation: changed(before.conversation) })
  }

  /** Replaces the entries and requests responses to them. */
  async function askFor(entries: Entry[], { models, values, secret }: Asking, rest: Partial<Conversation> = {}) {
    const maxTokens = typeof values['max_tokens'] === 'number' ? values['max_tokens'] : null
    const asked = { ...conversation, entries }
    const columns = models.map((model) => newAnswer(newId(), model, maxTokens))
    const gone = conversation.entries.filter(({ id: each }) => !entries.some((entry) => entry.id === each))
    setEarlier(gone.length > 1 || gone[0]?.kind === 'message' ? { conversation, isResent: true } : null)
    change({
      ...rest,
      entries: [...entries, { kind: 'answers', id: newId(), columns }],
      replaced: [...conversation.replaced, ...answersOf(gone).map(withoutText)],
    })
    const stop = new AbortController()
    running.current.add(stop)
    const areWhole = await Promise.all(
      columns.map(({ id, model }, column) => {
        const body = chatBody(asked, { model, column, values })
        return streamAnswer({ secret, body, signal: stop.signal }, (next) => changeAnswer(id, next))
      }),
    )
    running.current.delete(stop)
    if (areWhole.includes(true) && !stop.signal.aborted) announceQuietly('Response complete.')
  }

  return {
    conversation,
    lost,
    isStreaming,
    change,
    changeEntry,
    changeAnswer,
    askFor,
    stop() {
      stopAll(running.current)
      announceQuietly('Response stopped.')
    },
    /** Records the final charge of a response, or that it can't be read, wherever it appears. */
    settle(invocation: string, known: Known) {
      const settled = (answer: Answer) => (answer.invocation === invocation ? { ...answer, ...known } : answer)
      setConversation((before) => withAnswers(before, settled))
    },
    remove(id: string) {
      setEarlier({ conversation, isResent: false })
      change({ entries: conversation.entries.filter((entry) => entry.id !== id) })
    },
    /** Starts a new conversation and resets its charge. */
    clear() {
      setEarlier(conversation.entries.length > 0 ? { conversation, isResent: false } : null)
      change({ entries: [], replaced: [] })
    },
    /** Puts the messages back that the last action removed; null if there are none. */
    restore:
      earlier &&
      (() => {
        setConversation((now) => restored(earlier.conversation, now, { keepsChanges: !earlier.isResent }))
        setEarlier(null)
      }),
  }
}
const WRITE_EVERY_MS = 1_000

/** What a reload loses, because it does not fit into the storage of this tab. */
type Lost = 'images' | 'conversation' | null

/** Stores as much of a conversation as fits. Never leaves an older one in its place. */
function keep(kept: ReturnType<typeof keptIn>, conversation: Conversation): Lost {
  if (kept.write('conversation', conversation)) return null
  if (kept.write('conversation', withoutImages(conversation))) return 'images'
  kept.drop('conversation')
  return 'conversation'
}

export type Known = Pick<Answer, 'chargedMicro' | 'usage'> | { state: 'lost' }
export type UsedConversation = ReturnType<typeof useConversation>

function stopAll(running: ReadonlySet<AbortController>): void {
  for (const controller of running) controller.abort()
}

/**
 * Restored conversation. Responses that were streaming when the page was left are stopped, or lost without an ID. They
 * get new IDs: those that an earlier release stored have none.
 */
function opened(kept: Conversation | null): Conversation {
  if (!kept) return newConversation
  return withAnswers(kept, (answer) => ({ ...answer, id: newId(), state: leftState(answer) }))
}

function leftState({ state, invocation, chargedMicro }: Answer): Answer['state'] {
  if (state !== 'streaming' && state !== 'stopped') return state
  return invocation === null && chargedMicro === null ? 'lost' : 'stopped'
}

type Change = (answer: Answer) => Answer

/**
 * Sends a request and reports each change of the response. Never rejects: an error is part of the response. A response
 * that is stopped before it begins is awaited for the ID of its call, which is charged: without the ID, its charge would
 * stay unknown.
 * @returns whether the whole response arrived
 */
export async function streamAnswer(
  { secret, body, signal }: { secret: string; body: ChatBody; signal: AbortSignal },
  change: (change: Change) => void,
): Promise<boolean> {
  const began = performance.now()
  const ms = () => Math.round(performance.now() - began)
  let isWhole = false
  const stop = () => change((before) => ended(before, null, ms()))
  signal.addEventListener('abort', stop, { once: true })
  try {
    const answer = await askingWith(secret).raw('POST', '/v1/chat/completions', { body })
    const invocation = answer.headers.get('X-Service-Invocation')
    change((before) => ({ ...before, invocation }))
    if (signal.aborted) {
      await answer.body?.cancel()
      return false
    }
    const read = openEventData((data) => {
      if (data === '[DONE]') return void (isWhole = true)
      const event = JSON.parse(data) as Chunk | { error: RefusalBody }
      if ('error' in event) throw new ApiRefusal(answer, event.error)
      change((before) => applyChunk(before, event, ms()))
    })
    for await (const piece of pieces(answer, signal)) read(piece)
    if (!isWhole) throw new Error('The response was truncated.')
    change((before) => ({ ...before, state: 'whole', totalMs: ms() }))
  } catch (error) {
    if (!signal.aborted) change((before) => ended(before, error, ms()))
    else if (error instanceof ApiRefusal)
      change((before) => ({ ...before, chargedMicro: before.invocation === null ? 0 : null }))
  } finally {
    signal.removeEventListener('abort', stop)
  }
  return isWhole
}

/** @param error null if the user stopped it */
function ended(answer: Answer, error: unknown, totalMs: number): Answer {
  if (error === null) return { ...answer, state: 'stopped', totalMs }
  // Nothing is charged before admission.
  const chargedMicro = answer.invocation === null ? 0 : answer.chargedMicro
  return { ...answer, state: 'refused', totalMs, chargedMicro, refusal: refusalOf(error, answer.invocation) }
}

function refusalOf(error: unknown, invocation: string | null): AnswerRefusal {
  // The connection was lost after admission: the call continues and is charged.
  if (invocation !== null && !(error instanceof ApiRefusal)) return truncated
  const { message, resolution, code, requestId } = failedBy(error)
  return { message, resolution, code, requestId, details: error instanceof ApiRefusal ? error.details : {} }
}

const truncated: AnswerRefusal = {
  code: 'not_reached',
  message: 'The response was truncated.',
  resolution: 'Check the connection and try again. The call continues to its end and is charged in full.',
  requestId: null,
  details: {},
}

async function* pieces(answer: Response, signal: AbortSignal): AsyncGenerator<string> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream(), { signal }).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

/** Incremental parser of server-sent events. Passes on the data of each event. */
export function openEventData(take: (data: string) => void) {
  let rest = ''
  return (piece: string) => {
    const events = `${rest}${piece}`.split('\n\n')
    rest = events.pop()!
    for (const event of events) if (event.startsWith('data: ')) take(event.slice('data: '.length))
  }
}

export type Chunk = z.infer<typeof chunkShape>

/** Response after the next chunk. @param ms time since the request */
export function applyChunk(answer: Answer, { id, choices, usage }: Chunk, ms: number): Answer {
  const delta = choices[0]?.delta
  const text = answer.text + (delta?.content ?? delta?.refusal ?? '')
  const toolCalls = (delta?.tool_calls ?? []).reduce(takeCall, answer.toolCalls)
  const hasBegun = text !== '' || toolCalls.length > 0
  return {
    ...answer,
    invocation: id,
    text,
    toolCalls,
    firstMs: answer.firstMs ?? (hasBegun ? ms : null),
    ...(usage && {
      usage: { prompt: usage.prompt_tokens, completion: usage.completion_tokens },
      chargedMicro: usage.cost_micro ?? null,
    }),
  }
}

type CallDelta = NonNullable<NonNullable<Chunk['choices'][number]['delta']>['tool_calls']>[number]

/** Adds one piece of a tool call, at its index. */
function takeCall(calls: ToolCall[], { index, id, function: part }: CallDelta): ToolCall[] {
  const before = calls[index] ?? { id: '', name: '', arguments: '', result: '' }
  const after = {
    ...before,
    id: id ?? before.id,
    name: before.name + (part?.name ?? ''),
    arguments: before.arguments + (part?.arguments ?? ''),
  }
  return [...calls.slice(0, index), after, ...calls.slice(index + 1)]
}
