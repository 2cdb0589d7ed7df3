import type { ChatRequest, Forwarded } from '@gateway/contracts/chat-request'
import { invalidField } from '@gateway/contracts/invalid-field'

/** Parameters that only shape how a model samples: a flow's nodes have their own, so here they say nothing. */
const IGNORED = new Set(['stop', 'frequency_penalty', 'presence_penalty', 'logit_bias'])

/**
 * The one text that a chat call gives to a sandbox product called as a model (rules §3.9): of one message its text
 * as it is; of several `role: text` blocks with a blank line between.
 * @throws Refusal `invalid_request` for what a flow of one text can't take
 */
export function promptOfMessages({ forwarded, conditional }: Pick<ChatRequest, 'forwarded' | 'conditional'>): string {
  const unsupported = conditional.find((parameter) => !IGNORED.has(parameter))
  if (unsupported !== undefined)
    throw invalidField(unsupported, 'is not supported by a sandbox product', 'leave it out, or call another model')
  const { messages } = forwarded
  const texts = messages.map(textOf)
  if (texts.length === 1) return texts[0]!
  return messages.map(({ role }, n) => `${role}: ${texts[n]}`).join('\n\n')
}

function textOf(message: Forwarded['messages'][number], n: number): string {
  if (message.role === 'assistant' && message.tool_calls)
    throw notText(`messages.${n}.tool_calls`, 'leave it out: a sandbox product takes text alone')
  const { content } = message
  if (typeof content === 'string') return content
  let text = ''
  for (const [at, part] of (content ?? []).entries()) {
    if (part.type !== 'text') throw notText(`messages.${n}.content.${at}`, 'send text parts alone')
    text += part.text
  }
  return text
}

function notText(field: string, resolution: string) {
  return invalidField(field, 'is not text, which is all that this model takes', resolution)
}
