import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Attributes,
  type Link,
  type Span,
  type SpanKind,
  type Tracer,
} from '@opentelemetry/api'

// Spans by hand, where there is a collector. Where there is none nobody has a `Spans`, and nothing is wrapped.
//   T1  No text of a caller's or a provider's gets into a span: of what failed it says the code or the kind, never the message.
//   T2  What ends by a refusal that the caller can clear is no error of ours (semantic conventions for HTTP servers).

/** W3C Trace Context, as it travels beside a message. */
export interface Carrier {
  traceparent: string
  tracestate?: string
}

interface How {
  kind?: SpanKind
  attributes?: Attributes
  links?: Link[]
  /** Whose part it is, where that is not the span under way; null: a trace of its own. */
  under?: object | null
}

export interface Spans {
  /** Runs work in a span that ends with it, and is under way meanwhile. */
  during<T>(name: string, how: How, work: (span: Span) => Promise<T>): Promise<T>
  /** A span that somebody else ends. */
  start(name: string, how: How & { startTime?: number }): Span
}

export function spansOf(tracer: Tracer): Spans {
  return {
    during(name, { under, ...how }, work) {
      return tracer.startActiveSpan(name, how, parentOf(under), async (span) => {
        try {
          return await work(span)
        } catch (error) {
          markFailed(span, error)
          throw error
        } finally {
          span.end()
        }
      })
    },
    start: (name, { under, ...how }) => tracer.startSpan(name, how, parentOf(under)),
  }
}

function parentOf(under: object | null | undefined) {
  if (under === undefined) return context.active()
  return under === null ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, under)
}

/** Runs work with that span under way. */
export function within<T>(span: Span, work: () => T): T {
  return context.with(trace.setSpan(context.active(), span), work)
}

/** T1, T2 */
export function markFailed(span: Span, error: unknown): void {
  const { code, kind, name, status } = (error ?? {}) as Record<'code' | 'kind' | 'name' | 'status', unknown>
  const type = [code, kind, name].find((one) => typeof one === 'string') ?? 'unknown'
  span.setAttribute('error.type', type)
  if (typeof status !== 'number' || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
}

/** The span under way; null where nothing is traced. */
export function activeCarrier(): Carrier | null {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  const { traceparent, tracestate } = carrier
  if (traceparent === undefined) return null
  return { traceparent, ...(tracestate !== undefined && tracestate.length <= MOST_STATE && { tracestate }) }
}

const MOST_STATE = 512
