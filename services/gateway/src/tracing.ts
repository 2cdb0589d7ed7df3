import type { IncomingHttpHeaders } from 'node:http'
import { context, createContextKey, SpanKind, type Attributes, type Span } from '@opentelemetry/api'
import { Refusal } from '@gateway/api/refusal'
import { withSpan } from '@gateway/service-kit/process/spans'

// The root span of a call. Its stages are child spans, created by `withSpan`.

const CALL_SPAN = createContextKey('the span of the whole call')

/**
 * Runs a call in its own span, a child of the caller's span if the `traceparent` header names one (W3C Trace Context).
 * @param route method and path, such as `POST /v1/chat/completions`
 */
export function withCallSpan<T>(route: string, headers: IncomingHttpHeaders, work: () => Promise<T>): Promise<T> {
  const [method = '', path = ''] = route.split(' ')
  const attributes = { 'http.request.method': method, 'http.route': path }
  return withSpan(route, { kind: SpanKind.SERVER, attributes, under: headers }, (span) =>
    span.isRecording() ? context.with(context.active().setValue(CALL_SPAN, span), () => noted(span, work)) : work(),
  )
}

async function noted<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) span.setAttribute('http.response.status_code', error.status)
    throw error
  }
}

/** Sets attributes on the root span of the call, from any stage. */
export function noteOnCall(attributes: Attributes): void {
  const span = context.active().getValue(CALL_SPAN) as Span | undefined
  span?.setAttributes(attributes)
}
