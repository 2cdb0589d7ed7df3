import { SpanKind } from '@opentelemetry/api'
import { inSpan, markFailed, startSpan, withSpan } from '@gateway/service-kit/process/spans'
import type { ChatAnswer, ChatChunk, Completion } from '@gateway/providers/chat-port'
import { callAttributes, contentAttributes } from '@gateway/providers/call-attributes'
import { forwardedFor } from '@gateway/providers/forwarded-for'
import type { Deps } from '../deps.ts'
import type { Call } from './call.ts'
import { noteAnswer, noteChunks } from './trace-answer.ts'

// Calls the provider of an admitted product, in a span by the semantic conventions for generative AI. The providers
// hold the time limit of 300 s; here a call ends early only where this process has to stop.

type Needed = Pick<Deps, 'providers' | 'openCalls' | 'traceContent'>

/** @throws ProviderFailure, ProcessStopping */
export function callForCompletion(deps: Needed, call: Call): Promise<Completion> {
  return withSpan(nameOf(call), spanOptions(deps, call), async (span) => {
    const answer = await ask(deps, call)
    if (answer.kind !== 'completion') throw new Error('an answer was streamed that was not to be')
    if (span.isRecording()) noteAnswer(span, call, answer.completion, deps.traceContent)
    return answer.completion
  })
}

/**
 * Resolves at the first chunk. Of the chunks only one reader may be made, and it reads to the end; so long does the
 * span last.
 * @throws ProviderFailure, ProcessStopping: from here and from reading
 */
export async function callForChunks(deps: Needed, call: Call): Promise<AsyncIterable<ChatChunk>> {
  const span = startSpan(nameOf(call), spanOptions(deps, call))
  try {
    const answer = await inSpan(span, () => ask(deps, call))
    if (answer.kind !== 'stream') throw new Error('an answer came in one piece that was to be streamed')
    return span.isRecording() ? noteChunks(span, call, answer.chunks, deps.traceContent) : answer.chunks
  } catch (error) {
    markFailed(span, error)
    span.end()
    throw error
  }
}

async function ask(deps: Needed, call: Call): Promise<ChatAnswer> {
  const { providers, openCalls } = deps
  const { request, admitted } = call
  const { routes, outputCap, supportedParameters } = admitted
  const assetUrls = await call.images?.load(admitted.project)
  return providers.chat({
    routes,
    forwarded: forwardedFor(request, supportedParameters, assetUrls),
    outputCap,
    stream: request.stream,
    signal: openCalls.cancellation,
  })
}

function nameOf({ request: { model } }: Call): string {
  return `chat ${model}`
}

function spanOptions({ traceContent }: Needed, { request, admitted }: Call) {
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
    ...(traceContent && contentAttributes('input', request.forwarded['messages'])),
  }
  return { kind: SpanKind.CLIENT, attributes }
}
