import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { context, createContextKey, SpanKind, type Attributes, type Span } from '@opentelemetry/api'
import { Refusal } from '@gateway/api/refusal'
import { withSpan } from '@gateway/service-kit/process/spans'

// The root span of a call. Its stages are child spans, created by `withSpan`.

const CALL_SPAN = createContextKey('the span of the whole call')

/** Root spans, for log lines that are written after a call has left its span. */
const callSpans = new WeakMap<ServerResponse, Span>()

/**
 * Runs a call in its own span, a child of the caller's span if the `traceparent` header names one (W3C Trace Context).
 * @param route method and path, such as `POST /v1/chat/completions`
 * @param under trace headers of the caller
 */
export function withCallSpan<T>(
  route: string,
  res: ServerResponse,
  work: () => Promise<T>,
  under: IncomingHttpHeaders = res.req.headers,
): Promise<T> {
  const [method = '', path = ''] = route.split(' ')
  const attributes = {
    'http.request.method': method,
    'http.route': path,
    'service.request': String(res.getHeader('X-Request-Id')),
  }
  return withSpan(route, { kind: SpanKind.SERVER, attributes, under }, (span) => {
    if (!span.isRecording()) return work()
    callSpans.set(res, span)
    return context.with(context.active().setValue(CALL_SPAN, span), () => noted(span, work))
  })
}

/** The IDs that a log line of a call has; none if it is not traced. */
export function traceIdsOf(res: ServerResponse): { traceId?: string; spanId?: string } {
  const found = callSpans.get(res)?.spanContext()
  return found ? { traceId: found.traceId, spanId: found.spanId } : {}
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
