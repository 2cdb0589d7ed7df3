import type { Dialect } from './dialect.ts'
import { errorBody, traceHeaders, traceFields } from './provider-traces.ts'
import type { ChatAnswer } from './compose-chat.ts'

/** Chat completions, images and speech. */
export const chatDialect: Dialect = {
  headers: traceHeaders,
  errorBody,
  wrongRequest: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
  opening: ': simulated-provider processing\n\n',
  garbage: 'data: {"choices":[{"index":0,"delta":{"con\n\n',
  errorEvent: (callId) => `data: ${JSON.stringify(errorBody(500, callId))}\n\n`,
  aroundFiller: () => ['data: {"choices":[{"index":0,"finish_reason":null,"delta":{"content":"', '"}}]}\n\n'],
}

/** The body of a response that isn't streamed. */
export function completionBody(model: string, answer: ChatAnswer): string {
  const { reasoning, content, toolCall, refusal, finish, usage } = answer
  return JSON.stringify({
    ...traceFields(model, answer.random),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: toolCall || refusal !== null ? null : content.join(''),
          ...(reasoning.length > 0 ? { reasoning_content: reasoning.join('') } : {}),
          ...(toolCall
            ? {
                tool_calls: [
                  {
                    id: toolCall.id,
                    type: 'function',
                    function: { name: toolCall.name, arguments: toolCall.arguments.join('') },
                  },
                ],
              }
            : {}),
          refusal,
          annotations: [],
        },
        logprobs: null,
        finish_reason: finish,
        native_finish_reason: finish,
      },
    ],
    ...(usage && { usage: wireUsage(usage) }),
  })
}

/** The events of a stream: content, ending and end marker. */
export function chunkEvents(
  model: string,
  answer: ChatAnswer,
  includeUsage: boolean,
): { content: string[]; ending: string[]; marker: string } {
  const around = JSON.stringify({ ...traceFields(model, answer.random), object: 'chat.completion.chunk' })
  const open = `data: ${around.slice(0, -1)},"choices":`
  const chunk = (delta: object, finish: string | null = null): string =>
    `${open}[{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]}\n\n`

  const { toolCall, refusal, usage } = answer
  const content = [chunk({ role: 'assistant', content: toolCall || refusal !== null ? null : '' })]
  for (const token of answer.reasoning) content.push(chunk({ reasoning_content: token }))
  for (const token of answer.content) content.push(chunk({ content: token }))
  if (refusal !== null) content.push(chunk({ refusal }))
  if (toolCall) {
    const named = { name: toolCall.name, arguments: '' }
    content.push(chunk({ tool_calls: [{ index: 0, id: toolCall.id, type: 'function', function: named }] }))
    for (const token of toolCall.arguments)
      content.push(chunk({ tool_calls: [{ index: 0, function: { arguments: token } }] }))
  }
  const ending = [chunk({}, answer.finish)]
  if (includeUsage && usage) ending.push(`${open}[],"usage":${JSON.stringify(wireUsage(usage))}}\n\n`)
  return { content, ending, marker: 'data: [DONE]\n\n' }
}

function wireUsage({ prompt, completion, reasoning }: NonNullable<ChatAnswer['usage']>): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  }
}
