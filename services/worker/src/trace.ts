import { context, propagation, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api'
import type { NodeJob } from '@gateway/node-queue/node-job'

/** Runs a job in a span of its own, a child of the one that its run was started in. Without a collector it costs a call. */
export type TraceJob = (job: NodeJob, work: () => Promise<void>) => Promise<void>

export function jobTracer(tracer: Tracer): TraceJob {
  return ({ execution, node, attempt, trace }, work) => {
    const options = { kind: SpanKind.CONSUMER, attributes: { execution, node, attempt } }
    const inSpan = () =>
      tracer.startActiveSpan('run node', options, async (span) => {
        try {
          await work()
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : String(error) })
          throw error
        } finally {
          span.end()
        }
      })
    return trace ? context.with(propagation.extract(context.active(), trace), inSpan) : inSpan()
  }
}
