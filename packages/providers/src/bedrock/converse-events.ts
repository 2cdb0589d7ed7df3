import { maxToolCalls } from '../answer-limits.ts'
import { callIdOf } from '../call-id.ts'
import type { ChatChunk, Delta } from '../chat-port.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { ErrorInAnswer, fieldsOf, parseUntrusted, text, UnfitAnswer } from '../untrusted.ts'
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

interface OpenCall {
  index: number
  hasArguments: boolean
}

/**
 * Reads the events of one stream.
 *   C1  The usage comes behind the stop reason, in the last event.
 *   C2  A call without arguments has no deltas; callers parse arguments, so it gets those of an empty object.
 *   C3  Events and blocks of unknown type are passed over.
 *   C4  What has to come back to be thought on from is told once, whole, with the end.
 */
export function openConverseEvents(seal: ReasoningSeal): ReadEvent {
  let role: Pick<Delta, 'role'> = { role: 'assistant' }
  const calls = new Map<unknown, OpenCall>()
  const thoughts = new Map<unknown, Reasoning>()

  function chunk(delta: Delta): ChatChunk {
    const whole = { index: 0 as const, delta: { ...role, ...delta }, finish_reason: null }
    role = {}
    return { choices: [whole], usage: null }
  }

  function startBlock({ contentBlockIndex, start }: Fields): ChatChunk | null {
    const { toolUse } = fieldsOf(start)
    if (toolUse === undefined) return null // C3
    if (calls.size >= maxToolCalls) throw new UnfitAnswer('there are too many tool calls')
    const call = { index: calls.size, hasArguments: false }
    calls.set(contentBlockIndex, call)
    const { toolUseId, name } = fieldsOf(toolUse)
    const named = { name: text(name, 'tool name'), arguments: '' }
    const id = callIdOf(text(toolUseId, 'tool call id'))
    return chunk({ tool_calls: [{ index: call.index, id, type: 'function', function: named }] })
  }

  function takeDelta({ contentBlockIndex: at, delta }: Fields): ChatChunk | null {
    const { text: said, toolUse, reasoningContent } = fieldsOf(delta)
    if (said !== undefined) return says('content', text(said, 'content'))
    if (toolUse !== undefined) return moreArguments(calls.get(at), text(fieldsOf(toolUse)['input'], 'tool arguments'))
    return reasoningContent === undefined ? null : thinks(at, fieldsOf(reasoningContent)) // C3
  }

  function thinks(at: unknown, { text: words = '', signature = '', redactedContent = '' }: Fields): ChatChunk | null {
    const open = thoughts.get(at) ?? { text: '', signature: '', redacted: '' }
    thoughts.set(at, open)
    const thought = text(words, 'reasoning')
    open.text += thought
    open.signature += text(signature, 'a signature')
    open.redacted += text(redactedContent, 'redacted reasoning')
    return says('reasoning_content', thought)
  }

  function says(field: 'content' | 'reasoning_content', words: string): ChatChunk | null {
    return words === '' ? null : chunk({ [field]: words })
  }

  function moreArguments(call: OpenCall | undefined, json: string): ChatChunk | null {
    if (!call) throw new UnfitAnswer('arguments of no tool call')
    if (json === '') return null
    call.hasArguments = true
    return chunk({ tool_calls: [{ index: call.index, function: { arguments: json } }] })
  }

  function stopBlock({ contentBlockIndex }: Fields): ChatChunk | null {
    const call = calls.get(contentBlockIndex)
    return call && !call.hasArguments ? moreArguments(call, '{}') : null // C2
  }

  function stop({ stopReason }: Fields): ChatChunk {
    const details = [...thoughts.values()].flatMap((thought) => sealedReasoning(thought, seal))
    const { choices } = chunk(details.length > 0 ? { reasoning_details: details } : {}) // C4
    return { choices: choices.map((choice) => ({ ...choice, finish_reason: finishReasonOf(stopReason) })), usage: null }
  }

  function count({ usage }: Fields): ChatChunk | null {
    const counted = rebuildUsage(usage)
    return counted && { choices: [], usage: counted } // C1
  }

  const readers: Record<string, (fields: Fields) => ChatChunk | null> = {
    contentBlockStart: startBlock,
    contentBlockDelta: takeDelta,
    contentBlockStop: stopBlock,
    messageStop: stop,
    metadata: count,
  }

  return (data) => {
    const [[name, fields] = ['', {}]] = Object.entries(fieldsOf(parseUntrusted(data, 'an event')))
    if (/(exception|error)$/i.test(name)) throw new ErrorInAnswer(statusOfException[name])
    return Object.hasOwn(readers, name) ? readers[name]!(fieldsOf(fields)) : null // C3
  }
}
