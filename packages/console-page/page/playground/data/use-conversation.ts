import { useEffect, useRef, useState } from 'react'
import { announceQuietly } from '../../frame/announcer.ts'
import { newIdempotencyKey as newId } from '../../keys/new-idempotency-key.ts'
import { chatBody } from '../core/chat-body.ts'
import {
  answersOf,
  newAnswer,
  newConversation,
  type Answer,
  type Conversation,
  type Entry,
} from '../core/conversation.ts'
import { streamAnswer } from './stream-answer.ts'
import type { keptIn } from './kept.ts'

interface Asking {
  models: string[]
  values: Record<string, unknown>
  secret: string
}

/** Conversation stored in this tab, and its actions. */
export function useConversation(kept: ReturnType<typeof keptIn>) {
  const [conversation, setConversation] = useState(() => opened(kept.read('conversation') as Conversation | null))
  const [isKept, setKept] = useState(true)
  const running = useRef(new Set<AbortController>())
  const isStreaming = answersOf(conversation.entries).some(({ state }) => state === 'streaming')
  useEffect(() => setKept(kept.write('conversation', conversation)), [kept, conversation])
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
  const changeAnswer = (id: string, column: number, next: (answer: Answer) => Answer) =>
    changeEntry(id, (entry) =>
      entry.kind === 'answers'
        ? { ...entry, columns: entry.columns.map((answer, n) => (n === column ? next(answer) : answer)) }
        : entry,
    )

  /** Replaces the entries and requests responses to them. */
  async function askFor(entries: Entry[], { models, values, secret }: Asking, rest: Partial<Conversation> = {}) {
    const id = newId()
    const maxTokens = typeof values['max_tokens'] === 'number' ? values['max_tokens'] : null
    const asked = { ...conversation, entries }
    const gone = conversation.entries.filter(({ id: each }) => !entries.some((entry) => entry.id === each))
    change({
      ...rest,
      entries: [...entries, { kind: 'answers', id, columns: models.map((model) => newAnswer(model, maxTokens)) }],
      replaced: [...conversation.replaced, ...answersOf(gone).map(withoutText)],
    })
    const stop = new AbortController()
    running.current.add(stop)
    await Promise.all(
      models.map((model, column) => {
        const body = chatBody(asked, { model, column, values })
        return streamAnswer({ secret, body, signal: stop.signal }, (next) => changeAnswer(id, column, next))
      }),
    )
    running.current.delete(stop)
    announceQuietly('Response complete.')
  }

  return {
    conversation,
    isKept,
    isStreaming,
    change,
    changeEntry,
    changeAnswer,
    askFor,
    stop: () => stopAll(running.current),
    /** Records the final charge of a response, wherever it appears. */
    settle(invocation: string, known: Pick<Answer, 'chargedMicro' | 'usage'>) {
      const settled = (answer: Answer) => (answer.invocation === invocation ? { ...answer, ...known } : answer)
      setConversation((before) => ({
        ...before,
        replaced: before.replaced.map(settled),
        entries: before.entries.map((entry) =>
          entry.kind === 'answers' ? { ...entry, columns: entry.columns.map(settled) } : entry,
        ),
      }))
    },
    /** Starts a new conversation and resets its charge. */
    clear: () => change({ entries: [], replaced: [] }),
  }
}
export type UsedConversation = ReturnType<typeof useConversation>

function stopAll(running: ReadonlySet<AbortController>): void {
  for (const controller of running) controller.abort()
}

/** Restored conversation. Responses that were streaming when the page was left are stopped. */
function opened(kept: Conversation | null): Conversation {
  if (!kept) return newConversation
  const stopped = (answer: Answer): Answer => (answer.state === 'streaming' ? { ...answer, state: 'stopped' } : answer)
  return {
    ...kept,
    entries: kept.entries.map((entry) =>
      entry.kind === 'answers' ? { ...entry, columns: entry.columns.map(stopped) } : entry,
    ),
  }
}

const withoutText = (answer: Answer): Answer => ({ ...answer, text: '', toolCalls: [] })
