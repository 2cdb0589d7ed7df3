import {
  context,
  INVALID_SPAN_CONTEXT,
  propagation,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Link,
  type Span,
  type SpanKind,
} from '@opentelemetry/api'

// Manual spans. Without a collector no SDK is loaded, and the API's no-op is behind every function here.
//   T1  No text of a caller or a provider gets into a span: a failure is recorded by its code or kind, never by its
//       message.
//   T2  A refusal that the caller can clear is not an error of ours (semantic conventions for HTTP servers).

/** Resolves the SDK when the first span starts, so it may be loaded later than this module. */
const tracer = trace.getTracer('gateway')

const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
const NO_PROVIDER = new ProxyTracerProvider().getDelegate()

/** Whether an SDK is loaded. Without one even the API's no-op copies a context for each span. */
function isTraced(): boolean {
  const provider = trace.getTracerProvider()
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== NO_PROVIDER
}

/** W3C Trace Context, sent with a message or stored: without `tracestate`, which is text of a caller. */
export interface Carrier {
  traceparent: string
}

export interface SpanOptions {
  kind?: SpanKind
  attributes?: Attributes
  links?: Link[]
  /** Headers or a carrier that name the parent, if it is not the active span; null for a new trace. */
  under?: object | null
  /** Returns the failure that an error is recorded as, or null to record nothing. Default: the error itself. */
  failureOf?: (error: unknown) => object | null
}

/** Runs work in an active span that ends with it; a rejection marks the span as failed. */
export async function withSpan<T>(
  name: string,
  { under, failureOf, ...options }: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (!isTraced()) return work(NO_SPAN)
  return tracer.startActiveSpan(name, options, parentOf(under), async (span) => {
    try {
      return await work(span)
    } catch (error) {
      const failure = failureOf ? failureOf(error) : error
      if (failure !== null) markFailed(span, failure)
      throw error
    } finally {
      span.end()
    }
  })
}

/** A span that the caller ends. */
export function startSpan(
  name: string,
  { under, ...options }: Omit<SpanOptions, 'failureOf'> & { startTime?: number },
): Span {
  return isTraced() ? tracer.startSpan(name, options, parentOf(under)) : NO_SPAN
}

/** Runs work with this span active. Does not end the span. */
export function inSpan<T>(span: Span, work: () => T): T {
  if (span === NO_SPAN) return work()
  return context.with(trace.setSpan(context.active(), span), work)
}

/** T1, T2 */
export function markFailed(span: Span, error: unknown): void {
  const { code, kind, name, status } = (error ?? {}) as Record<'code' | 'kind' | 'name' | 'status', unknown>
  const type = [code, kind, name].find((candidate) => typeof candidate === 'string') ?? 'unknown'
  span.setAttribute('error.type', type)
  if (typeof status !== 'number' || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
}

/** Identifies the active span for a process that continues its work; null if nothing is traced. */
export function activeCarrier(): Carrier | null {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  const { traceparent } = carrier
  return traceparent === undefined ? null : { traceparent }
}

function parentOf(under: object | null | undefined) {
  if (under === undefined) return context.active()
  return under === null ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, under)
}
