import { maxToolCalls } from '../answer-limits.ts'
import type { ChatChunk, Delta, ReasoningDetail } from '../chat-port.ts'
import { throwErrorInside } from '../openai-compatible/error-inside.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { parseUntrusted, UnfitAnswer } from '../untrusted.ts'
import type { ReadEvent } from '../wire-format.ts'
import { readCandidate } from './candidate.ts'

/**
 * Reads the responses of one stream, each with a piece of the answer.
 *   G1  Each counts the usage so far; only the count with the end, or behind it, is that of the answer.
 *   G2  Calls come whole, each in one piece.
 *   G3  What has to come back to be thought on from is told once, whole, with the end.
 */
export function openGenerateEvents(seal: ReasoningSeal): ReadEvent {
  const details: ReasoningDetail[] = []
  let calls = 0
  let begun = false
  let ended = false

  return (data) => {
    const event = parseUntrusted(data, 'an event')
    throwErrorInside(event)
    const read = readCandidate(event, calls > 0, seal)
    details.push(...read.details)
    const delta: Delta = {}
    if (!begun) delta.role = 'assistant'
    if (read.thought !== '') delta.reasoning_content = read.thought
    if (read.said !== '') delta.content = read.said
    if (read.calls.length > 0) delta.tool_calls = read.calls.map((call) => ({ index: calls++, ...call })) // G2
    if (calls > maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
    if (read.finish !== null && details.length > 0) delta.reasoning_details = details // G3
    const says = read.thought !== '' || read.said !== '' || read.calls.length > 0
    if (!says && read.finish === null) return ended && read.usage ? { choices: [], usage: read.usage } : null
    begun = true
    ended ||= read.finish !== null
    return chunkOf(delta, read.finish, ended ? read.usage : null) // G1
  }
}

function chunkOf(delta: Delta, finish: ChatChunk['choices'][number]['finish_reason'], usage: ChatChunk['usage']) {
  return { choices: [{ index: 0 as const, delta, finish_reason: finish }], usage }
}
