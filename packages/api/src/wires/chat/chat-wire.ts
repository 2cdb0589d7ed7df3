import { wireUsage, type ChunkChoice, type ReasoningDetail } from '../../chat-answer.ts'
import { readChatRequest } from '../../chat-request.ts'
import type { Refusal } from '../../refusal.ts'
import { type AnswerFacts, type AnswerWriter, type ChatWire, commentKeepAlive } from '../wire.ts'
import { fieldOf, listOf, saysNothing } from '../fields.ts'

/** POST /v1/chat/completions (rules §3). The other wires are translations of this one. */
export const chatWire: ChatWire = {
  name: 'chat',
  dataForm: 'url',
  dataOf: attachmentUrlsOf,
  keepAlive: commentKeepAlive,
  read(body, cut) {
    const request = readChatRequest(body, cut)
    return { request, openAnswer: (facts) => chatAnswer(facts, request.includeUsage) }
  },
  errorBody: ({ body }) => ({ error: body }),
}

function* attachmentUrlsOf(body: unknown): Generator<string> {
  for (const message of listOf(body, 'messages'))
    for (const part of listOf(message, 'content')) {
      const type = fieldOf(part, 'type')
      const url =
        type === 'image_url'
          ? fieldOf(fieldOf(part, 'image_url'), 'url')
          : type === 'file' && fieldOf(fieldOf(part, 'file'), 'file_data')
      if (typeof url === 'string') yield url
    }
}

/**
 * Writes a completion, or its chunks: each as a `data:` line and a blank line (rules §3.7).
 *   W1  Unless the caller asked for a separate chunk, the chunk with the finish reason carries the usage, so it is held
 *       back until the end.
 *   W2  `[DONE]` follows a complete answer only.
 *   W3  The details needed to continue the reasoning are sent once, with the finish reason. Clients that merge deltas
 *       keep either the last list or all lists, and both are then correct.
 * @param includeUsage whether the usage comes in a separate chunk
 */
export function chatAnswer({ id, model, created }: AnswerFacts, includeUsage: boolean): AnswerWriter {
  const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model })
  const open = `data: ${head.slice(0, -1)},"choices":`
  const close = includeUsage ? ',"usage":null}\n\n' : '}\n\n'
  let held: ChunkChoice[] | null = null // W1
  const details: ReasoningDetail[] = [] // W3
  const event = (choices: ChunkChoice[]) => open + JSON.stringify(choices) + close

  /** W3 */
  function withDetailsLast(choices: ChunkChoice[]): ChunkChoice[] {
    const ends = choices.some(({ finish_reason: reason }) => reason !== null)
    for (const { delta } of choices) details.push(...(delta.reasoning_details ?? []))
    if (details.length === 0) return choices
    return choices.map((choice) => {
      const { reasoning_details: _, ...delta } = choice.delta
      return { ...choice, delta: ends ? { ...delta, reasoning_details: details } : delta }
    })
  }

  return {
    whole: (choices, { usage, chargedMicro, service }) =>
      JSON.stringify({
        id,
        object: 'chat.completion',
        created,
        model,
        choices,
        usage: wireUsage(usage, chargedMicro),
        ...(service && { service }),
      }),
    chunk(given) {
      const choices = withDetailsLast(given)
      if (choices !== given && choices.every(isLeftEmpty)) return ''
      const before = held ? event(held) : ''
      held = !includeUsage && choices.some(({ finish_reason: reason }) => reason !== null) ? choices : null
      return held ? before : before + event(choices)
    },
    end({ usage, chargedMicro, service }) {
      const choices = includeUsage ? [] : held
      if (choices === null) return DONE
      const last = { usage: wireUsage(usage, chargedMicro), ...(service && { service }) }
      return `${open}${JSON.stringify(choices)},${JSON.stringify(last).slice(1)}\n\n${DONE}`
    },
    broken: (refusal) => (held ? event(held) : '') + failureEvent(refusal),
  }
}

/** W2 */
const DONE = 'data: [DONE]\n\n'

function failureEvent({ body }: Refusal): string {
  return `data: ${JSON.stringify({ error: body })}\n\n`
}

/** Nothing is left of a chunk whose details wait for the last one. */
function isLeftEmpty({ delta, finish_reason: reason }: ChunkChoice): boolean {
  return reason === null && !delta.role && saysNothing(delta)
}
