import type { IncomingHttpHeaders } from 'node:http'
import { context, propagation, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'

/** Runs a stage of a call in a span of its own. Without a collector it costs a function call. */
export interface Trace {
  <T>(stage: string, work: () => Promise<T>): Promise<T>
  /** The first stage: a child of the caller's own span where his `traceparent` names one (W3C Trace Context). */
  received<T>(headers: IncomingHttpHeaders, stage: string, work: () => Promise<T>): Promise<T>
}

/** The span that is under way, as W3C Trace Context writes it; null without a collector. */
export function traceCarrier(): { traceparent: string; tracestate?: string } | null {
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  const { traceparent, tracestate } = carrier
  if (traceparent === undefined) return null
  return { traceparent, ...(tracestate !== undefined && tracestate.length <= MOST_STATE && { tracestate }) }
}

const MOST_STATE = 512

export function tracedBy(tracer: Tracer): Trace {
  const inSpan = <T>(stage: string, kind: SpanKind, work: () => Promise<T>): Promise<T> =>
    tracer.startActiveSpan(stage, { kind }, async (span) => {
      try {
        return await work()
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : String(error) })
        throw error
      } finally {
        span.end()
      }
    })
  return Object.assign(<T>(stage: string, work: () => Promise<T>) => inSpan(stage, SpanKind.INTERNAL, work), {
    received: <T>(headers: IncomingHttpHeaders, stage: string, work: () => Promise<T>) =>
      context.with(propagation.extract(context.active(), headers), () => inSpan(stage, SpanKind.SERVER, work)),
  })
}
