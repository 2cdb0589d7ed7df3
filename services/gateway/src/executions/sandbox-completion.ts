import type { WireUsage } from '@gateway/contracts/chat-answer'

/**
 * An execution that succeeded, as the answer of a model (rules §3.9). All of it is on record, so that a
 * repeat is the same.
 */
export interface SandboxAnswer {
  execution: string
  project: string
  chargedMicro: number
  /** As requested. */
  model: string
  /** When the execution ended, Unix seconds. */
  created: number
  text: string
  usage: WireUsage
}

/** The whole completion. */
export function sandboxCompletion(answer: SandboxAnswer): string {
  const { execution, model, created, text, usage } = answer
  return JSON.stringify({
    id: execution,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage,
    service: serviceOf(answer),
  })
}

/** The events of the stream: the text in one chunk, then the end; the last chunk says what the execution was. */
export function sandboxEvents(answer: SandboxAnswer, includeUsage: boolean): string {
  const { execution: id, model, created, text, usage } = answer
  const event = (fields: object) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...fields })}\n\n`
  const service = serviceOf(answer)
  const spoken = [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }]
  const ended = [{ index: 0, delta: {}, finish_reason: 'stop' }]
  const chunks = includeUsage
    ? event({ choices: spoken, usage: null }) +
      event({ choices: ended, usage: null }) +
      event({ choices: [], usage, service })
    : event({ choices: spoken }) + event({ choices: ended, service })
  return `${chunks}data: [DONE]\n\n`
}

function serviceOf({ execution, project, chargedMicro }: SandboxAnswer) {
  return { kind: 'sandbox', execution_id: execution, project, charged_micro: chargedMicro }
}
