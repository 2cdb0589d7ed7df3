import { type AssetMetrics, openAssetMetrics } from '@gateway/assets/asset-store'
import type { Meter } from '@opentelemetry/api'
import { openProviderMetrics, type ProviderMetrics } from '@gateway/service-kit/process/provider-metrics'
import { seconds } from '@gateway/service-kit/process/telemetry'
import type { ProviderFailure } from '@gateway/providers/provider-failure'
import type { AcceptedAnswer } from './request/read-invocation.ts'
import type { LedgerClient } from '@gateway/ledger-client/ledger-client'
import type { HealthCheck } from '@gateway/service-kit/process/open-service'

/** Metrics of the gateway. */
export interface Metrics extends ProviderMetrics {
  /**
   * How a reservation was closed. `late`: after the response; `lost`: not by this process; `quarantined`: not yet, the
   * ledger keeps trying.
   */
  closed(how: 'settled' | 'released' | 'fenced' | 'unknown' | 'late' | 'lost' | 'quarantined', tookMs?: number): void
  /**
   * `circuit`: the circuit breakers of all providers of the product are open; `execution`: the execution of a chat
   * failed or was cancelled, with this code.
   */
  refused(code: string, cause?: 'circuit' | 'execution'): void
  /** Keys looked up in the ledger before their requests were read. */
  keysLookedUp(outcome: 'found' | 'refused' | 'failed', count?: number): void
  /** Refusals not reported to users: there were too many, or the ledger was unavailable. */
  refusalsDropped(count: number): void
  /** A prompt that would have been refused by its byte count alone. `busy`: it was not counted in time. */
  promptCounted(outcome: 'counted' | 'busy', tookMs: number): void
  attemptFailed(failure: ProviderFailure): void
  /**
   * Duration of a call, even if its caller disconnected. `providerMs`: the provider's share; absent for a replay, which
   * may have waited for another call, and for a sandbox product, whose nodes call providers elsewhere.
   */
  answered(kind: 'json' | 'stream' | 'replay' | 'sandbox', durationMs: number, providerMs?: number): void
  /** If the caller disconnected, the duration until then: the execution continues elsewhere. */
  invoked(kind: AcceptedAnswer | 'mcp', durationMs: number): void
  assets: AssetMetrics
}

/** What is in progress now. */
interface InProgress {
  calls: () => number
  /** Of images and files of running calls. */
  imageBytes: () => number
  /** Of vectors of running calls. */
  embeddingBytes: () => number
  /** Followers of executions. */
  followers: () => number
  /** Requests to the console, by kind of permit. */
  consoleRequests: () => Record<string, number>
}

export function openMetrics(meter: Meter, inProgress: InProgress): Metrics {
  const closings = meter.createCounter('gateway.reservations.closed', {
    description: 'Closed reservations, by outcome',
    unit: '{reservation}',
  })
  const refusals = meter.createCounter('gateway.refusals', {
    description: 'Responses other than 2xx, by error code, with the cause circuit or execution',
    unit: '{refusal}',
  })
  const dropped = meter.createCounter('gateway.refusals.dropped', {
    description: 'Refusals not shown in the console because there were too many or the ledger was unavailable',
    unit: '{refusal}',
  })
  const lookUps = meter.createCounter('gateway.keys.lookups', {
    description: 'Key lookups in the ledger before the request is read, by outcome',
    unit: '{key}',
  })
  const counts = meter.createHistogram('gateway.prompts.counting.duration', {
    description: 'Duration of counting the tokens of a prompt refused by its byte bound, including failed counts',
    ...seconds,
  })
  const attempts = meter.createCounter('gateway.provider.attempts.failed', {
    description: 'Failed attempts at a provider, by kind',
    unit: '{attempt}',
  })
  const durations = meter.createHistogram('gateway.calls.duration', {
    description: 'Duration of a chat call, from its arrival to the end of its response',
    ...seconds,
  })
  const invocations = meter.createHistogram('gateway.invocations.duration', {
    description: 'Duration of a sandbox invocation, from its arrival to the end of its response',
    ...seconds,
  })
  const own = meter.createHistogram('gateway.calls.own_duration', {
    description: 'Duration of an answered chat call without the time of the provider',
    ...seconds,
  })
  const settling = meter.createHistogram('gateway.settlements.duration', {
    description: 'Duration from the end of a call until the ledger has closed its reservation',
    ...seconds,
  })
  meter
    .createObservableGauge('gateway.calls.open', {
      description: 'Chat calls in progress, and invocations waiting for their execution',
      unit: '{call}',
    })
    .addCallback((gauge) => gauge.observe(inProgress.calls()))
  meter
    .createObservableGauge('gateway.images.memory', {
      description: 'Memory reserved for the images and files of running calls',
      unit: 'By',
    })
    .addCallback((gauge) => gauge.observe(inProgress.imageBytes()))
  meter
    .createObservableGauge('gateway.embeddings.memory', {
      description: 'Memory reserved for the vectors of running calls',
      unit: 'By',
    })
    .addCallback((gauge) => gauge.observe(inProgress.embeddingBytes()))
  meter
    .createObservableGauge('gateway.followers', {
      description: 'Requests that follow the progress of an execution',
      unit: '{request}',
    })
    .addCallback((gauge) => gauge.observe(inProgress.followers()))
  meter
    .createObservableGauge('gateway.console.requests', {
      description: 'Requests to the console in progress, by kind of permit',
      unit: '{request}',
    })
    .addCallback((gauge) => {
      for (const [kind, count] of Object.entries(inProgress.consoleRequests())) gauge.observe(count, { kind })
    })
  // An alert does not see the value with which a series begins.
  closings.add(0, { outcome: 'lost' })
  refusals.add(0, { code: 'quota_reached' })
  return {
    ...openProviderMetrics(meter, 'gateway'),
    closed(how, tookMs) {
      closings.add(1, { outcome: how })
      if (tookMs !== undefined) settling.record(tookMs / 1_000, { outcome: how })
    },
    refused: (code, cause) => refusals.add(1, { code, ...(cause && { cause }) }),
    keysLookedUp: (outcome, count = 1) => lookUps.add(count, { outcome }),
    refusalsDropped: (count) => dropped.add(count),
    promptCounted: (outcome, tookMs) => counts.record(tookMs / 1_000, { outcome }),
    attemptFailed: ({ kind }) => attempts.add(1, { kind }),
    answered(kind, durationMs, providerMs) {
      durations.record(durationMs / 1_000, { kind })
      if (providerMs !== undefined) own.record(Math.max(0, durationMs - providerMs) / 1_000, { kind })
    },
    invoked: (kind, durationMs) => invocations.record(durationMs / 1_000, { kind }),
    assets: openAssetMetrics(meter, 'gateway'),
  }
}

/** A hash that no key has. */
const NO_KEY = '0'.repeat(64)
const LIMIT_MS = 900

/**
 * The gateway is ready while the ledger responds to a request that needs its database. Otherwise nothing can be
 * admitted.
 */
export function ledgerHealth({ ledger }: { ledger: Pick<LedgerClient, 'models'> }): HealthCheck {
  return async () => {
    try {
      await ledger.models({ keyHash: NO_KEY, selector: null }, { budgetMs: LIMIT_MS })
      return null
    } catch {
      return 'the ledger does not answer'
    }
  }
}
