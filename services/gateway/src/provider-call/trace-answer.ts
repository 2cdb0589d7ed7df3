import type { Span } from '@opentelemetry/api'
import { markFailed } from '@gateway/service-kit/process/spans'
import type { ChatChunk, Completion, Usage } from '@gateway/providers/chat-port'
import { answerAttributes, contentAttributes } from '@gateway/providers/call-attributes'
import { openTextAccumulator } from '@gateway/tokens/text-accumulator'
import type { Call } from './call.ts'

/** Notes on the span of a call what a whole answer was. */
export function noteAnswer(span: Span, call: Call, { choices, usage }: Completion, withContent: boolean): void {
  const finishReasons = choices.map(({ finish_reason }) => finish_reason)
  noteEnd(span, call, { usage, finishReasons })
  const messages = choices.map(({ message }) => message)
  if (withContent) span.setAttributes(contentAttributes('output', messages))
}

/** Passes chunks on, notes on the span of their call what they were, and ends the span with the last one. */
export async function* noteChunks(
  span: Span,
  call: Call,
  chunks: AsyncIterable<ChatChunk>,
  withContent: boolean,
): AsyncIterable<ChatChunk> {
  let usage: Usage | null = null
  const finishReasons: string[] = []
  const answered = withContent ? openTextAccumulator() : null
  span.addEvent('first chunk')
  try {
    for await (const chunk of chunks) {
      usage = chunk.usage ?? usage
      for (const { delta, finish_reason } of chunk.choices) {
        if (finish_reason !== null) finishReasons.push(finish_reason)
        answered?.append(delta)
      }
      yield chunk
    }
  } catch (error) {
    markFailed(span, error)
    throw error
  } finally {
    noteEnd(span, call, { usage, finishReasons })
    if (answered) span.setAttributes(contentAttributes('output', [{ role: 'assistant', content: answered.text() }]))
    span.end()
  }
}

function noteEnd(span: Span, call: Call, answer: { usage: Usage | null; finishReasons: string[] }): void {
  span.setAttributes(answerAttributes({ product: call.request.model, invocation: call.admitted.invocation, ...answer }))
}
