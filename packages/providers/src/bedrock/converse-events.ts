import { openBlockStream } from '../block-stream.ts'
import type { ChatChunk } from '../chat-port.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { ErrorInAnswer, fieldsOf, parseUntrusted, text } from '../untrusted.ts'
import type { Fields } from '../untrusted.ts'
import type { ReadEvent } from '../wire-format.ts'
import { rebuildUsage } from './rebuild-usage.ts'
import { sealedReasoning, type Reasoning } from './sealed-reasoning.ts'
import { finishReasonOf } from './stop-reason.ts'

/** The statuses of exceptions inside a stream, by the reference of ConverseStreamOutput. */
const statusOfException: Record<string, number> = {
  internalServerException: 500,
  modelStreamErrorException: 424,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

/**
 * Reads the events of one stream.
 *   C1  The usage comes in an event of its own, behind the stop reason or before it.
 *   C2  Events and blocks of unknown type are passed over.
 *   C3  What has to come back to be thought on from is told once, whole, with the end.
 */
export function openConverseEvents(seal: ReasoningSeal): ReadEvent {
  const stream = openBlockStream()
  const thoughts = new Map<unknown, Reasoning>()

  function startBlock({ contentBlockIndex: at, start }: Fields): ChatChunk | null {
    const { toolUse } = fieldsOf(start)
    if (toolUse === undefined) return null // C2
    const { toolUseId, name } = fieldsOf(toolUse)
    return stream.startCall(at, toolUseId, name)
  }

  function takeDelta({ contentBlockIndex: at, delta }: Fields): ChatChunk | null {
    const { text: said, toolUse, reasoningContent } = fieldsOf(delta)
    if (said !== undefined) return stream.says('content', text(said, 'content'))
    if (toolUse !== undefined) return stream.moreArguments(at, text(fieldsOf(toolUse)['input'], 'tool arguments'))
    return reasoningContent === undefined ? null : thinks(at, fieldsOf(reasoningContent)) // C2
  }

  function thinks(at: unknown, { text: words = '', signature = '', redactedContent = '' }: Fields): ChatChunk | null {
    const open = thoughts.get(at) ?? { text: '', signature: '', redacted: '' }
    thoughts.set(at, open)
    const thought = text(words, 'reasoning')
    open.text += thought
    open.signature += text(signature, 'a signature')
    open.redacted += text(redactedContent, 'redacted reasoning')
    return stream.says('reasoning_content', thought)
  }

  function stop({ stopReason }: Fields): ChatChunk {
    const details = [...thoughts.values()].flatMap((thought) => sealedReasoning(thought, seal))
    const { choices } = stream.chunk(details.length > 0 ? { reasoning_details: details } : {}) // C3
    return { choices: choices.map((choice) => ({ ...choice, finish_reason: finishReasonOf(stopReason) })), usage: null }
  }

  function count({ usage }: Fields): ChatChunk | null {
    const counted = rebuildUsage(usage)
    return counted && { choices: [], usage: counted } // C1
  }

  const readers: Record<string, (fields: Fields) => ChatChunk | null> = {
    contentBlockStart: startBlock,
    contentBlockDelta: takeDelta,
    contentBlockStop: ({ contentBlockIndex }) => stream.stop(contentBlockIndex),
    messageStop: stop,
    metadata: count,
  }

  return (data) => {
    const [[name, fields] = ['', {}]] = Object.entries(fieldsOf(parseUntrusted(data, 'an event')))
    if (/(exception|error)$/i.test(name)) throw new ErrorInAnswer(statusOfException[name])
    return Object.hasOwn(readers, name) ? readers[name]!(fieldsOf(fields)) : null // C2
  }
}
