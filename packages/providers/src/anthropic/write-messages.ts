import type { Forwarded } from '@gateway/contracts/chat-request'
import type { ReasoningSeal } from '../reasoning-seal.ts'
import { refuseFields } from '../unlike-chat.ts'
import { NotInWireFormat, type WireCall } from '../wire-format.ts'
import { conversationOf, type Turn } from './conversation.ts'
import { toolsOf } from './tools.ts'

/**
 * Writes a chat request in the Messages format. What that format lacks is refused (`NotInWireFormat`), except the `detail` of an
 * image, which is a wish about its price and not about the answer (docs/providers.md).
 */
export function writeMessages({ model, forwarded, outputCap, stream }: WireCall, seal: ReasoningSeal): string {
  const asked = JSON.parse(forwarded) as Forwarded
  refuseUnsayable(asked)
  const { system, messages } = conversationOf(asked.messages, seal)
  const thinks = thinksAbout(asked, messages)
  const stop = [asked['stop'] ?? []].flat() as string[]
  if (stop.some((sequence) => sequence.trim() === ''))
    throw new NotInWireFormat('stop', 'has a sequence of blanks', 'leave that sequence out')
  return JSON.stringify({
    model,
    max_tokens: outputCap,
    ...(stream && { stream }),
    ...(system.length > 0 && { system }),
    messages,
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...toolsOf(asked),
    ...outputOf(asked, thinks),
    ...samplingOf(asked, thinks),
  })
}

const lacking = ['seed', 'frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'verbosity']

function refuseUnsayable(asked: Forwarded): void {
  refuseFields(asked, lacking)
  if (formatOf(asked)?.type === 'json_object')
    throw new NotInWireFormat('response_format', 'is json_object, without a schema', 'send json_schema with the schema')
  if (asked['reasoning_effort'] === 'minimal')
    throw new NotInWireFormat('reasoning_effort', 'is minimal, which this model does not know', 'send none or low')
}

interface ResponseFormat {
  type: 'text' | 'json_object' | 'json_schema'
  json_schema?: { schema?: unknown }
}

function formatOf(asked: Forwarded): ResponseFormat | undefined {
  return asked['response_format'] as ResponseFormat | undefined
}

/** `json_schema` and `reasoning_effort` have words of their own here. */
function outputOf(asked: Forwarded, thinks: boolean): object {
  const format = formatOf(asked)
  const effort = asked['reasoning_effort']
  const config = {
    ...(effort !== undefined && effort !== 'none' && { effort }),
    ...(format?.type === 'json_schema' && {
      format: { type: 'json_schema', schema: format.json_schema?.schema ?? { type: 'object' } },
    }),
  }
  return {
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(effort === 'none' && { thinking: { type: 'disabled' } }),
    ...(thinks && { thinking: { type: 'adaptive', display: 'summarized' } }),
  }
}

/**
 * Whether to ask for thinking. Between a call of a tool and what is said to its result only where the turn that called came
 * back with what was thought before it: without it the format refuses to go on. And not where a tool is forced, which
 * thinking excludes.
 */
function thinksAbout(asked: Forwarded, turns: readonly Turn[]): boolean {
  const effort = asked['reasoning_effort']
  const choice = asked['tool_choice']
  const forced = choice !== undefined && choice !== 'auto' && choice !== 'none'
  if (effort === undefined || effort === 'none' || forced) return false
  return (
    asked.messages.at(-1)?.role !== 'tool' || beginsWithThinking(turns.findLast(({ role }) => role === 'assistant'))
  )
}

function beginsWithThinking(turn: Turn | undefined): boolean {
  const type = turn?.content[0]?.type
  return type === 'thinking' || type === 'redacted_thinking'
}

/** Temperatures end at 1 here. Where the model thinks, its sampling is not to be changed. */
function samplingOf(asked: Forwarded, thinks: boolean): object {
  const { temperature, top_p: topP } = asked as { temperature?: number; top_p?: number }
  if (temperature !== undefined && temperature > 1)
    throw new NotInWireFormat('temperature', 'is above 1, the most that this model takes', 'send 1 or less')
  if (thinks && temperature !== undefined && temperature !== 1) throw whileThinking('temperature', 1)
  if (thinks && topP !== undefined && topP < leastTopPWhileThinking)
    throw whileThinking('top_p', leastTopPWhileThinking)
  return { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { top_p: topP }) }
}

const leastTopPWhileThinking = 0.95

function whileThinking(field: string, taken: number): NotInWireFormat {
  return new NotInWireFormat(
    field,
    'is given together with reasoning_effort, with which this model samples in its own way',
    `leave one of the two out, or send ${taken}`,
  )
}
