import {
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { jobIdOf, type NodeJob } from './node-job.ts'
import type { NodeQueue } from './node-queue.ts'
import { queueName } from './queue-name.ts'

// The queue in a trace, by the semantic conventions for messaging (docs/decisions/0011-spans-of-the-queue.md).
//   Q1  Each job is sent in the trace of its own run, however many share a batch: its parent is what the job carries.
//   Q2  A job carries the span of its sending on, so that its run is a part of it. One that carries nothing begins a trace.

type Run = (job: NodeJob, signal: AbortSignal) => Promise<void>

/** Adds jobs, each in a span of its own. Without a tracer as it was given. */
export function tracedEnqueue(tracer: Tracer | null, enqueue: NodeQueue['enqueue']): NodeQueue['enqueue'] {
  if (tracer === null) return enqueue
  return async (jobs) => {
    const sendings = jobs.map((job) => {
      const options = { kind: SpanKind.PRODUCER, attributes: attributesOf(job, 'send') }
      const span = tracer.startSpan(`send ${queueName}`, options, contextOf(job)) // Q1
      return { span, job: { ...job, trace: carrierOf(span) } } // Q2
    })
    try {
      await enqueue(sendings.map(({ job }) => job))
    } catch (error) {
      for (const { span } of sendings) markFailed(span, error)
      throw error
    } finally {
      for (const { span } of sendings) span.end()
    }
  }
}

/** Runs a job in a span of its own. Without a tracer as it was given. */
export function tracedExecution(tracer: Tracer | null, run: Run): Run {
  if (tracer === null) return run
  return (job, signal) => {
    const options = { kind: SpanKind.CONSUMER, attributes: attributesOf(job, 'process') }
    return tracer.startActiveSpan(`process ${queueName}`, options, contextOf(job), async (span) => {
      try {
        await run(job, signal)
      } catch (error) {
        markFailed(span, error)
        throw error
      } finally {
        span.end()
      }
    })
  }
}

function attributesOf(job: NodeJob, operation: 'send' | 'process'): Attributes {
  return {
    'messaging.system': 'bullmq',
    'messaging.destination.name': queueName,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.message.id': jobIdOf(job),
    'service.execution': job.execution,
    'service.node': job.node,
    'service.attempt': job.attempt,
  }
}

function contextOf({ trace: carrier }: NodeJob): Context {
  return carrier ? propagation.extract(ROOT_CONTEXT, carrier) : ROOT_CONTEXT
}

function carrierOf(span: Span): NonNullable<NodeJob['trace']> {
  const carrier: Record<string, string> = {}
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier)
  const { traceparent = '', tracestate } = carrier
  return { traceparent, ...(tracestate !== undefined && { tracestate }) }
}

function markFailed(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
  span.setStatus({ code: SpanStatusCode.ERROR })
}
