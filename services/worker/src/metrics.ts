import { type AssetMetrics, openAssetMetrics } from '@gateway/assets/asset-store'
import type { Meter } from '@opentelemetry/api'
import { openProviderMetrics, type ProviderMetrics } from '@gateway/service-kit/process/provider-metrics'
import { seconds } from '@gateway/service-kit/process/telemetry'
import type { NodeWorker } from '@gateway/node-queue/node-worker'
import type { ProviderFailure } from '@gateway/providers/provider-failure'
import type { CompleteItem } from '@gateway/ledger-protocol/flow-items'

/**
 * How the ledger recorded the end of a node. `cancelled`: failed because its execution was cancelled. `quarantined`:
 * can't be written yet; the ledger retries it.
 */
export type Ended = CompleteItem['result']['kind'] | 'cancelled' | 'fenced' | 'quarantined'

/** Metrics of the worker. */
export interface Metrics extends ProviderMetrics {
  /** A job ended: successfully, by a failure, or because its lock was lost. */
  jobEnded(outcome: 'ran' | 'failed' | 'lost'): void
  nodeEnded(kind: string, how: Ended, times: { durationMs: number; remoteMs: number | null }): void
  /** A node failed, and no user stopped it. */
  refused(code: string): void
  /** A job had nothing to do: its node had ended or was running elsewhere, or its execution was ending. */
  nothingToDo(): void
  /** A call waited for funds reserved by other calls. */
  waitedForFunds(how: 'admitted' | 'refused', ms: number): void
  attemptFailed(failure: ProviderFailure): void
  watch(queue: Pick<NodeWorker, 'running'>): void
  assets: AssetMetrics
}

export function openMetrics(meter: Meter): Metrics {
  const jobs = meter.createCounter('worker.jobs.ended', {
    description: 'Ended jobs of the queue, by outcome',
    unit: '{job}',
  })
  const running = meter.createObservableGauge('worker.jobs.running', { description: 'Jobs in progress', unit: '{job}' })
  const nodes = meter.createCounter('worker.nodes.ended', {
    description: 'Ended nodes, by kind and outcome',
    unit: '{node}',
  })
  const refusals = meter.createCounter('worker.refusals', {
    description: 'Failed nodes, by error code',
    unit: '{refusal}',
  })
  const idle = meter.createCounter('worker.jobs.nothing_to_do', {
    description: 'Jobs without work to do',
    unit: '{job}',
  })
  const duration = meter.createHistogram('worker.node.duration', {
    description: 'Duration of a node, from its claim to the recording of its result',
    ...seconds,
  })
  const remote = meter.createHistogram('worker.node.provider_duration', {
    description: 'Time that providers took for a node, by kind of node',
    ...seconds,
  })
  const funds = meter.createHistogram('worker.funds.wait', {
    description: 'Duration of waits for funds reserved by other calls, by outcome',
    ...seconds,
  })
  const attempts = meter.createCounter('worker.provider.attempts.failed', {
    description: 'Failed attempts at a provider, including those followed by a successful one',
    unit: '{attempt}',
  })
  // An alert does not see the value with which a series begins.
  jobs.add(0, { outcome: 'lost' })
  refusals.add(0, { code: 'quota_reached' })
  return {
    ...openProviderMetrics(meter, 'worker'),
    jobEnded: (how) => jobs.add(1, { outcome: how }),
    nodeEnded(kind, how, { durationMs, remoteMs }) {
      nodes.add(1, { kind, outcome: how })
      duration.record(durationMs / 1_000, { kind })
      if (remoteMs !== null) remote.record(remoteMs / 1_000, { kind })
    },
    refused: (code) => refusals.add(1, { code }),
    nothingToDo: () => idle.add(1),
    waitedForFunds: (how, ms) => funds.record(ms / 1_000, { outcome: how }),
    attemptFailed: ({ kind }) => attempts.add(1, { kind }),
    watch: (queue) => running.addCallback((gauge) => gauge.observe(queue.running())),
    assets: openAssetMetrics(meter, 'worker'),
  }
}
