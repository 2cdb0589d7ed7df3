import type { Meter } from '@opentelemetry/api'
import type { NodeWorker } from '@gateway/node-queue/node-worker'
import type { ProviderFailure } from '@gateway/providers/provider-failure'
import type { CompleteItem } from '@gateway/contracts/flow-items'

/** How a node ended, as the ledger took it. */
export type Ended = CompleteItem['result']['kind'] | 'fenced'

/** What the worker counts. */
export interface Metrics {
  /** A run of a job ended: well, by a failure, or because the lock of the job was lost. */
  jobEnded(outcome: 'ran' | 'failed' | 'lost'): void
  nodeEnded(kind: string, how: Ended, times: { durationMs: number; remoteMs: number | null }): void
  /** A job had nothing to do: its node had ended, was under way elsewhere or its execution was ending. */
  nothingToDo(): void
  /** A call waited for money that other calls had reserved. */
  waitedForFunds(how: 'admitted' | 'refused', ms: number): void
  attemptFailed(failure: ProviderFailure): void
  watch(queue: Pick<NodeWorker, 'running'>): void
}

export function openMetrics(meter: Meter): Metrics {
  const jobs = meter.createCounter('worker_jobs', { description: 'Jobs of the queue by how their run ended' })
  const running = meter.createObservableGauge('worker_jobs_running', { description: 'Jobs under way' })
  const nodes = meter.createCounter('worker_nodes', { description: 'Nodes by kind and by how they ended' })
  const idle = meter.createCounter('worker_jobs_nothing_to_do', { description: 'Jobs whose node needed no run' })
  const seconds = { unit: 's', advice: { explicitBucketBoundaries: [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 15, 60, 300] } }
  const duration = meter.createHistogram('worker_node_duration', {
    ...seconds,
    description: 'From the claim of a node to its record',
  })
  const remote = meter.createHistogram('worker_node_remote', {
    ...seconds,
    description: 'What providers took, by kind',
  })
  const funds = meter.createHistogram('worker_funds_wait', {
    ...seconds,
    description: 'Waits for money that other calls had reserved, by how they ended',
  })
  const attempts = meter.createCounter('worker_provider_attempts_failed', {
    description: 'Attempts at a provider that failed, also those that another one made good',
  })
  return {
    jobEnded: (how) => jobs.add(1, { how }),
    nodeEnded(kind, how, { durationMs, remoteMs }) {
      nodes.add(1, { kind, how })
      duration.record(durationMs / 1_000, { kind })
      if (remoteMs !== null) remote.record(remoteMs / 1_000, { kind })
    },
    nothingToDo: () => idle.add(1),
    waitedForFunds: (how, ms) => funds.record(ms / 1_000, { how }),
    attemptFailed: ({ kind }) => attempts.add(1, { kind }),
    watch: (queue) => running.addCallback((gauge) => gauge.observe(queue.running())),
  }
}
