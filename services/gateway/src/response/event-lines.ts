import { wireUsage } from '@gateway/contracts/chat-answer'
import type { Refusal } from '@gateway/contracts/refusal'
import type { ChunkChoice } from '@gateway/providers/chat-port'
import type { CountedUsage } from '@gateway/tokens/counted-usage'

/** Writes the events of one streamed answer, each as its `data:` line and the blank line after it (rules §3.7). */
export interface EventLines {
  chunk(choices: ChunkChoice[]): string
  /**
   * The last events of a whole answer: its usage, where asked for, and `[DONE]`.
   * @param chargedMicro what the call is charged; null: the ledger tells no price
   */
  end(usage: CountedUsage, chargedMicro: number | null): string
}

export interface EventFacts {
  invocation: string
  model: string
  /** Unix seconds. */
  created: number
  includeUsage: boolean
}

/** Keeps proxies on the way awake; readers of events skip it. */
export const KEEP_ALIVE = ': keep-alive\n\n'

export function eventLines({ invocation, model, created, includeUsage }: EventFacts): EventLines {
  const head = JSON.stringify({ id: invocation, object: 'chat.completion.chunk', created, model })
  const open = `data: ${head.slice(0, -1)},"choices":`
  const close = includeUsage ? ',"usage":null}\n\n' : '}\n\n'
  return {
    chunk: (choices) => open + JSON.stringify(choices) + close,
    end: (usage, chargedMicro) =>
      (includeUsage ? `${open}[],"usage":${JSON.stringify(wireUsage(usage, chargedMicro))}}\n\n` : '') +
      'data: [DONE]\n\n',
  }
}

/** The last event of an answer that broke off. No `[DONE]` follows, so that it never looks complete. */
export function failureLine({ body }: Refusal): string {
  return `data: ${JSON.stringify({ error: body })}\n\n`
}
