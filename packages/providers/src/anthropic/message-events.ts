import { openBlockStream } from '../block-stream.ts'
import type { ChatChunk } from '../chat-port.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { fieldsOf, parseUntrusted, text } from '../untrusted.ts'
import type { Fields } from '../untrusted.ts'
import type { ReadEvent } from '../wire-format.ts'
import { throwErrorInside } from './error-inside.ts'
import { rebuildUsage } from './rebuild-usage.ts'
import { sealedThinking } from './sealed-thinking.ts'
import { finishReasonOf } from './stop-reason.ts'

interface OpenThought {
  type: unknown
  thinking: string
  signature: string
  data: unknown
}

/**
 * Reads the events of one stream.
 *   M1  The prompt is counted in the first event and the output in the last, which may count the prompt once more. The
 *       output that the first event counts is a placeholder.
 *   M2  Events and blocks of unknown type are passed over: the format grows that way.
 *   M3  What has to come back to be thought on from is told once, whole, with the end: clients that put deltas together keep
 *       the last of a list, or all of them, and both are right then.
 */
export function openMessageEvents(seal: ReasoningSeal): ReadEvent {
  let counts: Fields = {}
  let ended = false
  const stream = openBlockStream()
  const thoughts = new Map<unknown, OpenThought>()

  function startBlock({ index, content_block: started }: Fields): ChatChunk | null {
    const block = fieldsOf(started)
    switch (block['type']) {
      case 'text':
        return block['text'] ? stream.says('content', text(block['text'], 'a text block')) : null
      case 'tool_use':
        return stream.startCall(index, block['id'], block['name'])
      case 'thinking':
      case 'redacted_thinking':
        thoughts.set(index, { type: block['type'], thinking: '', signature: '', data: block['data'] })
        return thinks(index, text(block['thinking'] ?? '', 'a thinking block'))
      default:
        return null // M2
    }
  }

  function takeDelta({ index, delta: given }: Fields): ChatChunk | null {
    const delta = fieldsOf(given)
    switch (delta['type']) {
      case 'text_delta':
        return stream.says('content', text(delta['text'], 'content'))
      case 'thinking_delta':
        return thinks(index, text(delta['thinking'], 'reasoning_content'))
      case 'signature_delta': {
        const open = thoughts.get(index)
        if (open) open.signature += text(delta['signature'], 'a signature')
        return null
      }
      case 'input_json_delta':
        return stream.moreArguments(index, text(delta['partial_json'], 'tool arguments'))
      default:
        return null // M2
    }
  }

  function thinks(index: unknown, words: string): ChatChunk | null {
    const open = thoughts.get(index)
    if (open) open.thinking += words
    return stream.says('reasoning_content', words)
  }

  function end({ delta, usage }: Fields): ChatChunk | null {
    const reason = finishReasonOf(fieldsOf(delta)['stop_reason'])
    counts = { ...counts, ...withoutNulls(fieldsOf(usage)) }
    if (reason === null && !ended) return null
    ended = true
    const details = [...thoughts.values()].flatMap((block) => sealedThinking({ ...block }, seal))
    const { choices } = stream.chunk(details.length > 0 ? { reasoning_details: details } : {}) // M3
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
        return stream.stop(fields['index'])
      case 'message_delta':
        return end(fields)
      case 'message_stop':
        return 'end'
      default:
        return null // M2
    }
  }
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
