import { maxToolCalls } from '../answer-limits.ts'
import { callIdOf } from '../call-id.ts'
import type { ChatChunk, Delta } from '../chat-port.ts'
import { fieldsOf, parseUntrusted, text, UnfitAnswer } from '../untrusted.ts'
import type { Fields } from '../untrusted.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import type { ReadEvent } from '../wire-format.ts'
import { throwErrorInside } from './error-inside.ts'
import { rebuildUsage } from './rebuild-usage.ts'
import { sealedThinking } from './sealed-thinking.ts'
import { finishReasonOf } from './stop-reason.ts'

interface OpenCall {
  /** Its place among the tool calls of the answer; blocks of text count in the provider's numbers, and not in ours. */
  index: number
  hasArguments: boolean
}

/**
 * Reads the events of one stream.
 *   M1  The prompt is counted in the first event and the output in the last, which may count the prompt once more. The
 *       output that the first event counts is a placeholder.
 *   M2  A call without arguments has no deltas; callers parse arguments, so it gets those of an empty object.
 *   M3  Events and blocks of unknown type are passed over: the format grows that way.
 *   M4  What has to come back to be thought on from is told once, whole, with the end: clients that put deltas together keep
 *       the last of a list, or all of them, and both are right then.
 */
export function openMessageEvents(seal: ReasoningSeal): ReadEvent {
  let counts: Fields = {}
  let ended = false
  let role: Pick<Delta, 'role'> = { role: 'assistant' }
  const calls = new Map<unknown, OpenCall>()
  const thoughts = new Map<unknown, { type: unknown; thinking: string; signature: string; data: unknown }>()

  function chunk(delta: Delta): ChatChunk {
    const whole = { index: 0 as const, delta: { ...role, ...delta }, finish_reason: null }
    role = {}
    return { choices: [whole], usage: null }
  }

  function startBlock({ index, content_block: started }: Fields): ChatChunk | null {
    const block = fieldsOf(started)
    switch (block['type']) {
      case 'thinking':
      case 'redacted_thinking': {
        const { type, thinking, data } = block
        thoughts.set(index, { type, thinking: typeof thinking === 'string' ? thinking : '', signature: '', data })
        return thinking ? said('reasoning_content', thinking) : null
      }
      case 'text':
        return block['text'] ? chunk({ content: text(block['text'], 'a text block') }) : null
      case 'tool_use': {
        if (calls.size >= maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
        const call = { index: calls.size, hasArguments: false }
        calls.set(index, call)
        const [id, name] = [callIdOf(text(block['id'], 'tool call id')), text(block['name'], 'tool name')]
        return chunk({ tool_calls: [{ index: call.index, id, type: 'function', function: { name, arguments: '' } }] })
      }
      default:
        return null // M3
    }
  }

  function takeDelta({ index, delta: given }: Fields): ChatChunk | null {
    const delta = fieldsOf(given)
    switch (delta['type']) {
      case 'text_delta':
        return said('content', delta['text'])
      case 'thinking_delta':
        return thought(index, text(delta['thinking'], 'reasoning_content'))
      case 'signature_delta': {
        const open = thoughts.get(index)
        if (open) open.signature += text(delta['signature'], 'a signature')
        return null
      }
      case 'input_json_delta':
        return moreArguments(calls.get(index), text(delta['partial_json'], 'tool arguments'))
      default:
        return null // M3
    }
  }

  function thought(index: unknown, words: string): ChatChunk | null {
    const open = thoughts.get(index)
    if (open) open.thinking += words
    return said('reasoning_content', words)
  }

  function said(field: 'content' | 'reasoning_content', value: unknown): ChatChunk | null {
    const words = text(value, field)
    return words === '' ? null : chunk({ [field]: words })
  }

  function moreArguments(call: OpenCall | undefined, json: string): ChatChunk | null {
    if (!call) throw new UnfitAnswer('arguments of no tool call')
    if (json === '') return null
    call.hasArguments = true
    return chunk({ tool_calls: [{ index: call.index, function: { arguments: json } }] })
  }

  function stopBlock({ index }: Fields): ChatChunk | null {
    const call = calls.get(index)
    return call && !call.hasArguments ? moreArguments(call, '{}') : null // M2
  }

  function end({ delta, usage }: Fields): ChatChunk | null {
    const reason = finishReasonOf(fieldsOf(delta)['stop_reason'])
    counts = { ...counts, ...withoutNulls(fieldsOf(usage)) }
    if (reason === null && !ended) return null
    ended = true
    const details = [...thoughts.values()].flatMap((block) => sealedThinking(block, seal))
    const { choices } = chunk(details.length > 0 ? { reasoning_details: details } : {}) // M4
    const closed = choices.map((choice) => ({ ...choice, finish_reason: reason }))
    return { choices: reason === null ? [] : closed, usage: rebuildUsage(counts) } // M1
  }

  return (data) => {
    const event = parseUntrusted(data, 'an event')
    throwErrorInside(event)
    const fields = fieldsOf(event)
    switch (fields['type']) {
      case 'message_start':
        counts = { ...fieldsOf(fieldsOf(fields['message'])['usage']), output_tokens: undefined } // M1
        return null
      case 'content_block_start':
        return startBlock(fields)
      case 'content_block_delta':
        return takeDelta(fields)
      case 'content_block_stop':
        return stopBlock(fields)
      case 'message_delta':
        return end(fields)
      case 'message_stop':
        return 'end'
      default:
        return null // M3
    }
  }
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
