import { maxToolCalls } from './answer-limits.ts'
import { callIdOf } from './call-id.ts'
import type { ChatChunk, Delta } from './chat-port.ts'
import { text, UnfitAnswer } from './untrusted.ts'

// Streams of blocks: text, thinking and calls of tools each in blocks that are opened, filled and closed, as Anthropic and
// Bedrock have them. Blocks of text count in the provider's numbers, and not in ours.

interface OpenCall {
  /** Its place among the tool calls of the answer. */
  index: number
  hasArguments: boolean
}

/** Writes the chunks of one stream. */
export interface BlockStream {
  /** The role goes with the first one. */
  chunk(delta: Delta): ChatChunk
  /** null for no words at all. */
  says(field: 'content' | 'reasoning_content', words: string): ChatChunk | null
  /** Throws `UnfitAnswer`. */
  startCall(block: unknown, id: unknown, name: unknown): ChatChunk
  /** Throws `UnfitAnswer` for arguments of no call. */
  moreArguments(block: unknown, json: string): ChatChunk | null
  /** A call without arguments has no deltas; callers parse arguments, so it gets those of an empty object. */
  stop(block: unknown): ChatChunk | null
}

export function openBlockStream(): BlockStream {
  let role: Pick<Delta, 'role'> = { role: 'assistant' }
  const calls = new Map<unknown, OpenCall>()

  function chunk(delta: Delta): ChatChunk {
    const whole = { index: 0 as const, delta: { ...role, ...delta }, finish_reason: null }
    role = {}
    return { choices: [whole], usage: null }
  }

  function given(call: OpenCall, json: string): ChatChunk {
    call.hasArguments = true
    return chunk({ tool_calls: [{ index: call.index, function: { arguments: json } }] })
  }

  return {
    chunk,
    says: (field, words) => (words === '' ? null : chunk({ [field]: words })),
    startCall(block, providersId, called) {
      if (calls.size >= maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
      const call = { index: calls.size, hasArguments: false }
      calls.set(block, call)
      const [id, name] = [callIdOf(text(providersId, 'tool call id')), text(called, 'tool name')]
      return chunk({ tool_calls: [{ index: call.index, id, type: 'function', function: { name, arguments: '' } }] })
    },
    moreArguments(block, json) {
      const call = calls.get(block)
      if (!call) throw new UnfitAnswer('arguments of no tool call')
      return json === '' ? null : given(call, json)
    },
    stop(block) {
      const call = calls.get(block)
      return call && !call.hasArguments ? given(call, '{}') : null
    },
  }
}
