import { SpanKind, type Attributes } from '@opentelemetry/api'
import { activeCarrier, inSpan, markFailed, startSpan, withSpan } from '@gateway/service-kit/process/spans'
import { jobIdOf, queueName, type NodeJob } from './node-job.ts'

// Spans of the queue, by the semantic conventions for messaging (docs/decisions/0011-spans-of-the-queue.md).
//   Q1  Each job is sent in the trace of its execution, even in a shared batch: its parent is the context the job
//       carries.
//   Q2  A job then carries the context of its send span, so its processing is part of it. A job without a context
//       starts a new trace.
//   Q3  A chained node was never sent: its span is not a messaging span, and is a sibling of the job's span.

/** Sends jobs, each in a separate span. */
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

/** Runs a job in a separate span. */
export function runInSpan<T>(job: NodeJob, run: () => Promise<T>): Promise<T> {
  return withSpan(`process ${queueName}`, { kind: SpanKind.CONSUMER, ...optionsOf(job, 'process') }, run)
}

/** Runs a chained node in a separate span (Q3). */
export function goOnInSpan<T>(
  { execution, trace }: NodeJob,
  { node, attempt }: Pick<NodeJob, 'node' | 'attempt'>,
  run: () => Promise<T>,
): Promise<T> {
  return withSpan('run node', { attributes: nodeAttributes({ execution, node, attempt }), under: trace ?? null }, run)
}

const nodeAttributes = ({ execution, node, attempt }: NodeJob): Attributes => ({
  'service.execution': execution,
  'service.node': node,
  'service.attempt': attempt,
})

function optionsOf(job: NodeJob, operation: 'send' | 'process'): { attributes: Attributes; under: object | null } {
  return {
    attributes: {
      'messaging.system': 'bullmq',
      'messaging.destination.name': queueName,
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.message.id': jobIdOf(job),
      ...nodeAttributes(job),
    },
    under: job.trace ?? null,
  }
}
