import type { ChatChunk, Delta } from '../chat-port.ts'
import { parseUntrusted } from '../untrusted.ts'
import type { ReadEvent } from '../wire-format.ts'
import { throwErrorInside } from './error-inside.ts'
import { rebuildChunk } from './rebuild-chunk.ts'

/**
 * Reads the events of one stream. Most providers begin with a chunk that only names the role, long before anything is
 * said: it is kept back and its role goes with the first chunk that says something, so that a provider which breaks off in
 * between has given no answer.
 */
export function openChatEvents(): ReadEvent {
  let begun = false
  let role: Pick<Delta, 'role'> = {}

  return (data) => {
    if (data === '[DONE]') return 'end'
    const event = parseUntrusted(data, 'an event')
    throwErrorInside(event)
    const chunk = rebuildChunk(event)
    if (begun || chunk === null) return chunk
    const [choice] = chunk.choices
    if (choice?.delta.role) role = { role: choice.delta.role }
    if (!choice || !saysSomething(chunk)) return null
    begun = true
    choice.delta = { ...role, ...choice.delta }
    return chunk
  }
}

function saysSomething({ choices }: ChatChunk): boolean {
  return choices.some(
    ({ delta: { content, refusal, reasoning, reasoning_content: thought, tool_calls: calls }, finish_reason: end }) =>
      end !== null || Boolean(content || refusal || reasoning || thought) || calls !== undefined,
  )
}
