import { hash } from 'node:crypto'
import type { Forwarded } from '@gateway/contracts/chat-request'

/** What some who speak the format want of messages that were answered by somebody else. */
export interface MessageRules {
  /** `nine-characters`: an id is nine letters and digits, and any other is refused. */
  toolCallIds: 'any' | 'nine-characters'
  /** Whether `reasoning_content` and `reasoning` of earlier answers go back. */
  reasoningHistory: boolean
}

type Message = Forwarded['messages'][number]

/**
 * The forwarded fields as such a provider takes them. They stay the text they are unless something in them has to go.
 * `reasoning_details` is what other wire formats left for themselves (reasoning-seal.ts): it never goes out in this one.
 */
export function fitMessages(forwarded: string, rules: MessageRules): string {
  if (!mayNeedFitting(forwarded, rules)) return forwarded
  const asked = JSON.parse(forwarded) as Forwarded
  return JSON.stringify({ ...asked, messages: asked.messages.map((message) => fitted(message, rules)) })
}

/** A search in the text, which is cheap, and may find the word in a prompt: then it is parsed for nothing. */
function mayNeedFitting(forwarded: string, { toolCallIds, reasoningHistory }: MessageRules): boolean {
  return (
    forwarded.includes('"reasoning_details"') ||
    (!reasoningHistory && /"reasoning(_content)?"/.test(forwarded)) ||
    (toolCallIds !== 'any' && /"tool_call(s|_id)"/.test(forwarded))
  )
}

function fitted(message: Message, { toolCallIds, reasoningHistory }: MessageRules): object {
  const { reasoning_details: _, ...kept } = message as Message & { reasoning_details?: unknown }
  const said = reasoningHistory ? kept : withoutReasoning(kept)
  return toolCallIds === 'any' ? said : withShortIds(said)
}

function withoutReasoning(message: object): object {
  const { reasoning: _, reasoning_content: __, ...kept } = message as { reasoning?: string; reasoning_content?: string }
  return kept
}

function withShortIds(message: object): object {
  const { tool_calls: calls, tool_call_id: id } = message as { tool_calls?: { id: string }[]; tool_call_id?: string }
  return {
    ...message,
    ...(calls && { tool_calls: calls.map((call) => ({ ...call, id: nineCharacters(call.id) })) }),
    ...(id !== undefined && { tool_call_id: nineCharacters(id) }),
  }
}

/** The same for the call and for its result. */
function nineCharacters(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hash('sha256', id).slice(0, 9)
}
