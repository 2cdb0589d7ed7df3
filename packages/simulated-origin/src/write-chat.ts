import type { ChatAnswer } from './compose-chat.ts'
import { traceFields } from './origin-traces.ts'

/** The body of an answer that isn't streamed. */
export function completionBody(model: string, answer: ChatAnswer): string {
  const { reasoning, content, toolCall, finish, usage } = answer
  return JSON.stringify({
    ...traceFields(model, answer.random),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: toolCall ? null : content.join(''),
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
          refusal: null,
          annotations: [],
        },
        logprobs: null,
        finish_reason: finish,
        native_finish_reason: finish,
      },
    ],
    ...(usage ? { usage } : {}),
  })
}

/** One `data:` text per chunk, without the closing `[DONE]`. */
export function chunkTexts(model: string, answer: ChatAnswer, includeUsage: boolean): string[] {
  const around = JSON.stringify({ ...traceFields(model, answer.random), object: 'chat.completion.chunk' })
  const open = `${around.slice(0, -1)},"choices":`
  const chunk = (delta: object, finish: string | null = null): string =>
    `${open}[{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]}`

  const { toolCall } = answer
  const chunks = [chunk({ role: 'assistant', content: toolCall ? null : '' })]
  for (const token of answer.reasoning) chunks.push(chunk({ reasoning_content: token }))
  for (const token of answer.content) chunks.push(chunk({ content: token }))
  if (toolCall) {
    const named = { name: toolCall.name, arguments: '' }
    chunks.push(chunk({ tool_calls: [{ index: 0, id: toolCall.id, type: 'function', function: named }] }))
    for (const token of toolCall.arguments)
      chunks.push(chunk({ tool_calls: [{ index: 0, function: { arguments: token } }] }))
  }
  chunks.push(chunk({}, answer.finish))
  if (includeUsage && answer.usage) chunks.push(`${open}[],"usage":${JSON.stringify(answer.usage)}}`)
  return chunks
}
