import { SpanKind, type Attributes } from '@opentelemetry/api'
import { activeCarrier, inSpan, markFailed, startSpan, withSpan } from '@gateway/process/spans'
import { jobIdOf, queueName, type NodeJob } from './node-job.ts'

// The queue in a trace, by the semantic conventions for messaging (docs/decisions/0011-spans-of-the-queue.md).
//   Q1  Each job is sent in the trace of its own execution, however many share a batch: its parent is what the job carries.
//   Q2  A job carries the span of its sending on, so that the work on it is a part of it. One that carries nothing begins a trace.

/** Sends jobs, each in a span of its own. */
export async function sendInSpans(jobs: NodeJob[], send: (jobs: NodeJob[]) => Promise<void>): Promise<void> {
  const sendings = jobs.map((job) => {
    const span = startSpan(`send ${queueName}`, { kind: SpanKind.PRODUCER, ...optionsOf(job, 'send') }) // Q1
    const carrier = inSpan(span, activeCarrier)
    return { span, job: carrier ? { ...job, trace: carrier } : job } // Q2
  })
  try {
    await send(sendings.map(({ job }) => job))
  } catch (error) {
    for (const { span } of sendings) markFailed(span, error)
    throw error
  } finally {
    for (const { span } of sendings) span.end()
  }
}

/** Runs a job in a span of its own. */
export function runInSpan(job: NodeJob, run: () => Promise<void>): Promise<void> {
  return withSpan(`process ${queueName}`, { kind: SpanKind.CONSUMER, ...optionsOf(job, 'process') }, run)
}

function optionsOf(job: NodeJob, operation: 'send' | 'process'): { attributes: Attributes; under: object | null } {
  return {
    attributes: {
      'messaging.system': 'bullmq',
      'messaging.destination.name': queueName,
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.message.id': jobIdOf(job),
      'service.execution': job.execution,
      'service.node': job.node,
      'service.attempt': job.attempt,
    },
    under: job.trace ?? null,
  }
}
