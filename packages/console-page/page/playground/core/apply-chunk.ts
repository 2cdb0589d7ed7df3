import type { z } from 'zod'
import type { chunkShape } from '@gateway/api/answer-shapes'
import type { Answer, ToolCall } from './conversation.ts'

export type Chunk = z.infer<typeof chunkShape>

/** Response after the next chunk. @param ms time since the request */
export function applyChunk(answer: Answer, { id, choices, usage }: Chunk, ms: number): Answer {
  const delta = choices[0]?.delta
  const text = answer.text + (delta?.content ?? delta?.refusal ?? '')
  const toolCalls = (delta?.tool_calls ?? []).reduce(takeCall, answer.toolCalls)
  const hasBegun = text !== '' || toolCalls.length > 0
  return {
    ...answer,
    invocation: id,
    text,
    toolCalls,
    firstMs: answer.firstMs ?? (hasBegun ? ms : null),
    ...(usage && {
      usage: { prompt: usage.prompt_tokens, completion: usage.completion_tokens },
      chargedMicro: usage.cost_micro ?? null,
    }),
  }
}

type CallDelta = NonNullable<NonNullable<Chunk['choices'][number]['delta']>['tool_calls']>[number]

/** Adds one piece of a tool call, at its index. */
function takeCall(calls: ToolCall[], { index, id, function: part }: CallDelta): ToolCall[] {
  const before = calls[index] ?? { id: '', name: '', arguments: '', result: '' }
  const after = {
    ...before,
    id: id ?? before.id,
    name: before.name + (part?.name ?? ''),
    arguments: before.arguments + (part?.arguments ?? ''),
  }
  return [...calls.slice(0, index), after, ...calls.slice(index + 1)]
}
