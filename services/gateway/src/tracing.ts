import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { context, createContextKey, SpanKind, type Attributes, type Span } from '@opentelemetry/api'
import type { Refusal } from '@gateway/api/refusal'
import { ClientDisconnected } from '@gateway/service-kit/http/read-body'
import { markFailed, withSpan } from '@gateway/service-kit/process/spans'
import { refusalOfError } from './errors/refusal-of-error.ts'

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
  return withSpan(route, { kind: SpanKind.SERVER, attributes, under, failureOf }, (span) => {
    if (!span.isRecording()) return work()
    callSpans.set(res, span)
    return context.with(context.active().setValue(CALL_SPAN, span), () => noted(span, res, work))
  })
}

/** The IDs that a log line of a call has; none if it is not traced. */
export function traceIdsOf(res: ServerResponse): { traceId?: string; spanId?: string } {
  const found = callSpans.get(res)?.spanContext()
  return found ? { traceId: found.traceId, spanId: found.spanId } : {}
}

/** Records the status of the answer: of the headers that were sent, or of the refusal that follows. */
async function noted<T>(span: Span, res: ServerResponse, work: () => Promise<T>): Promise<T> {
  let status: number | undefined
  try {
    return await work()
  } catch (error) {
    status = failureOf(error)?.status
    throw error
  } finally {
    if (res.headersSent) status = res.statusCode
    if (status !== undefined) span.setAttribute('http.response.status_code', status)
  }
}

/** The failure as the caller sees it; null if the caller has disconnected. */
function failureOf(error: unknown): Refusal | null {
  return error instanceof ClientDisconnected ? null : refusalOfError(error)
}

/** Sets attributes on the root span of the call, from any stage. */
export function noteOnCall(attributes: Attributes): void {
  callSpan()?.setAttributes(attributes)
}

/** Marks the root span of a call whose answer tells a failure after its headers. */
export function markCallFailed(refusal: Refusal): void {
  const span = callSpan()
  if (span) markFailed(span, refusal)
}

function callSpan(): Span | undefined {
  return context.active().getValue(CALL_SPAN) as Span | undefined
}
