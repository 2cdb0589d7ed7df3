import { SpanKind, type Span } from '@opentelemetry/api'
import type { ChatChunk, Usage } from '@gateway/providers/chat-port'
import { answerAttributes, callAttributes, contentAttributes } from '@gateway/tokens/call-attributes'
import { openSaid } from '@gateway/tokens/said'
import { inSpan, markFailed, type Spans } from '@gateway/process/spans'
import type { CallProvider } from './call/call-provider.ts'
import type { Call } from './call/call.ts'

/**
 * Calls to providers in spans of their own, by the semantic conventions for generative AI; that of a stream lasts until it ends.
 * Without a collector as it was given.
 * @param withContent whether prompt and answer get into the trace
 */
export function tracedProvider(spans: Spans | null, provider: CallProvider, withContent: boolean): CallProvider {
  if (spans === null) return provider

  return {
    completion(call) {
      return spans.during(nameOf(call), howOf(call), async (span) => {
        const completion = await provider.completion(call)
        const { choices, usage } = completion
        tell(span, call, { usage, finishReasons: choices.map(({ finish_reason }) => finish_reason) })
        if (withContent)
          span.setAttributes(
            contentAttributes(
              'output',
              choices.map(({ message }) => message),
            ),
          )
        return completion
      })
    },
    async chunks(call) {
      const span = spans.start(nameOf(call), howOf(call))
      try {
        const chunks = await inSpan(span, () => provider.chunks(call))
        return followed(span, call, chunks)
      } catch (error) {
        markFailed(span, error)
        span.end()
        throw error
      }
    },
  }

  async function* followed(span: Span, call: Call, chunks: AsyncIterable<ChatChunk>): AsyncIterable<ChatChunk> {
    let reported: Usage | null = null
    const finishReasons: string[] = []
    const said = withContent ? openSaid() : null
    span.addEvent('first chunk')
    try {
      for await (const chunk of chunks) {
        reported = chunk.usage ?? reported
        for (const { delta, finish_reason } of chunk.choices) {
          if (finish_reason !== null) finishReasons.push(finish_reason)
          said?.hear(delta)
        }
        yield chunk
      }
    } catch (error) {
      markFailed(span, error)
      throw error
    } finally {
      tell(span, call, { usage: reported, finishReasons })
      if (said) span.setAttributes(contentAttributes('output', [{ role: 'assistant', content: said.text() }]))
      span.end()
    }
  }

  function howOf({ request, admitted }: Call) {
    const facts = {
      operation: 'chat' as const,
      product: request.model,
      invocation: admitted.invocation,
      maxTokens: admitted.outputCap,
      stream: request.stream,
    }
    const attributes = {
      ...callAttributes(facts),
      'service.project': admitted.project,
      ...(withContent && contentAttributes('input', request.forwarded['messages'])),
    }
    return { kind: SpanKind.CLIENT, attributes }
  }
}

function nameOf({ request: { model } }: Call): string {
  return `chat ${model}`
}

function tell(span: Span, call: Call, answer: { usage: Usage | null; finishReasons: string[] }): void {
  span.setAttributes(answerAttributes({ product: call.request.model, invocation: call.admitted.invocation, ...answer }))
}
