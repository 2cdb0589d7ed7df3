import type { Forwarded } from '@gateway/contracts/chat-request'
import { NotInWireFormat } from '../wire-format.ts'
import type { WireCall } from '../wire-format.ts'
import { conversationOf } from './conversation.ts'
import { toolsOf } from './tools.ts'

/**
 * Writes a chat request in the Messages format. What that format lacks and would change the answer is refused (`NotInWireFormat`):
 * JSON mode without a schema, penalties, biases, log-probabilities, verbosity. Without effect here: `seed`, names of
 * speakers, the detail of an image. Temperatures end at 1 where those of chat completions end at 2.
 */
export function writeMessages({ model, forwarded, outputCap, stream }: WireCall): string {
  const asked = JSON.parse(forwarded) as Forwarded
  refuseUnsayable(asked)
  const { system, messages } = conversationOf(asked.messages)
  const stop = [asked['stop'] ?? []].flat() as string[]
  if (stop.some((sequence) => sequence.trim() === '')) throw new NotInWireFormat('a stop sequence of blanks')
  return JSON.stringify({
    model,
    max_tokens: outputCap,
    ...(stream && { stream }),
    ...(system.length > 0 && { system }),
    messages,
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...toolsOf(asked),
    ...outputOf(asked),
    ...samplingOf(asked),
  })
}

const unsupported = ['frequency_penalty', 'presence_penalty', 'logit_bias', 'logprobs', 'top_logprobs', 'verbosity']

function refuseUnsayable(asked: Forwarded): void {
  for (const field of unsupported) if (asked[field]) throw new NotInWireFormat(field)
  if (formatOf(asked)?.type === 'json_object') throw new NotInWireFormat('response_format json_object')
}

interface ResponseFormat {
  type: 'text' | 'json_object' | 'json_schema'
  json_schema?: { schema?: unknown }
}

function formatOf(asked: Forwarded): ResponseFormat | undefined {
  return asked['response_format'] as ResponseFormat | undefined
}

/** `json_schema` and `reasoning_effort` have words of their own here. */
function outputOf(asked: Forwarded): object {
  const format = formatOf(asked)
  const effort = effortOf(asked)
  const config = {
    ...(effort !== undefined && effort !== 'none' && { effort }),
    ...(format?.type === 'json_schema' && {
      format: { type: 'json_schema', schema: format.json_schema?.schema ?? { type: 'object' } },
    }),
  }
  return {
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(effort === 'none' && { thinking: { type: 'disabled' } }),
    ...(thinks(asked) && { thinking: { type: 'adaptive', display: 'summarized' } }),
  }
}

function effortOf(asked: Forwarded): unknown {
  return asked['reasoning_effort'] === 'minimal' ? 'low' : asked['reasoning_effort']
}

/**
 * Whether to ask for thinking. Not in the middle of a round of tools: the thinking before the call would have to come back
 * with its signature, which a chat request can't carry. And not where a tool is forced, which thinking excludes.
 */
function thinks(asked: Forwarded): boolean {
  const effort = effortOf(asked)
  const choice = asked['tool_choice']
  const forced = choice !== undefined && choice !== 'auto' && choice !== 'none'
  return effort !== undefined && effort !== 'none' && !forced && asked.messages.at(-1)?.role !== 'tool'
}

/** Where the model thinks, its sampling is not to be changed. */
function samplingOf(asked: Forwarded): object {
  if (thinks(asked)) return {}
  const { temperature, top_p: topP } = asked as { temperature?: number; top_p?: number }
  return {
    ...(temperature !== undefined && { temperature: Math.min(temperature, 1) }),
    ...(topP !== undefined && { top_p: topP }),
  }
}
