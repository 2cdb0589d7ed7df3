import { randomBytes } from 'node:crypto'
import { callIdOf } from '../call-id.ts'
import type { FinishReason, ReasoningDetail, ToolCall, Usage } from '../chat-port.ts'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { fieldsOf, list, text, UnfitAnswer } from '../untrusted.ts'
import type { Fields } from '../untrusted.ts'
import { finishReasonOf } from './finish-reason.ts'
import { rebuildUsage } from './rebuild-usage.ts'

const mostParts = 10_000

/** What one response says, whole or a piece of a stream: both have the same form. */
export interface Candidate {
  said: string
  thought: string
  calls: ToolCall[]
  details: ReasoningDetail[]
  finish: FinishReason | null
  usage: Usage | null
}

/**
 * Reads a response. Thoughts come as summaries; the signature of what was really thought stands at a part of the answer, and
 * has to come back there: with a call it bears the call's id. Throws `UnfitAnswer`.
 * @param calledBefore whether an earlier piece of the answer held a call
 */
export function readCandidate(response: unknown, calledBefore: boolean, { seal }: ReasoningSeal): Candidate {
  const { candidates, promptFeedback, usageMetadata } = fieldsOf(response)
  const [first] = list(candidates, 16, 'candidates')
  const usage = rebuildUsage(usageMetadata)
  const read: Candidate = { said: '', thought: '', calls: [], details: [], finish: null, usage }
  if (first === undefined) {
    if (fieldsOf(promptFeedback)['blockReason'] !== undefined) return { ...read, finish: 'content_filter' }
    if (usage !== null) return read
    throw new UnfitAnswer('there is no candidate')
  }
  const { content, finishReason } = fieldsOf(first)
  for (const part of list(fieldsOf(content)['parts'], mostParts, 'parts').map(fieldsOf)) {
    const call = part['functionCall'] === undefined ? null : toolCall(fieldsOf(part['functionCall']))
    if (call) read.calls.push(call)
    else if (part['text'] !== undefined)
      read[part['thought'] === true ? 'thought' : 'said'] += text(part['text'], 'a part')
    const signature = part['thoughtSignature']
    if (typeof signature !== 'string' || signature === '') continue
    const data = seal(signature, call?.id ?? '')
    read.details.push({ type: 'reasoning.encrypted', data, ...(call && { id: call.id }) })
  }
  read.finish = finishReasonOf(finishReason, calledBefore || read.calls.length > 0)
  return read
}

/** Older models give their calls no ids. */
function toolCall({ id, name, args }: Fields): ToolCall {
  return {
    id: typeof id === 'string' && id !== '' ? callIdOf(id) : `call_${randomBytes(12).toString('hex')}`,
    type: 'function',
    function: { name: text(name, 'function name'), arguments: JSON.stringify(args ?? {}) },
  }
}
