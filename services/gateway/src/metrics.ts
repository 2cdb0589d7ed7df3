import type { Meter } from '@opentelemetry/api'
import type { ProvidersOptions } from '@gateway/providers/open-providers'
import type { ProviderFailure } from '@gateway/providers/provider-failure'
import type { AcceptedAnswer } from './request/accepted-answer.ts'

/** What the gateway counts. No label names a provider: /metrics stands beside the public paths. */
export interface Metrics {
  /** How a reservation was closed. `late`: after the answer; `lost`: not by this process. */
  closed(how: 'settled' | 'released' | 'fenced' | 'unknown' | 'late' | 'lost', tookMs?: number): void
  refused(code: string): void
  attemptFailed(failure: ProviderFailure): void
  circuitChanged: NonNullable<ProvidersOptions['circuitChanged']>
  /**
   * How long a call took, also when its caller has left. `providerMs`: how much of it the provider took; not given for
   * a replay, which may have waited for another call, nor for a sandbox product, whose nodes called elsewhere.
   */
  answered(kind: 'json' | 'stream' | 'replay' | 'sandbox', durationMs: number, providerMs?: number): void
  /** Where the caller left, until they left: their execution goes on elsewhere. */
  invoked(kind: AcceptedAnswer | 'mcp', durationMs: number): void
}

const MS = [0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 100_000, 300_000]

export function openMetrics(meter: Meter, openCalls: () => number): Metrics {
  const closings = meter.createCounter('gateway_reservations_closed', {
    description: 'Reservations by how they were closed',
  })
  const refusals = meter.createCounter('gateway_refusals', { description: 'Answers that are not 2xx, by code' })
  const attempts = meter.createCounter('gateway_failed_attempts', {
    description: 'Attempts that a provider failed, by kind',
  })
  const durations = meter.createHistogram('gateway_chat_duration', {
    description: 'From receiving a chat call to the end of its answer',
    unit: 'ms',
    advice: { explicitBucketBoundaries: MS },
  })
  const invocations = meter.createHistogram('gateway_invoke_duration', {
    description: 'From receiving an invocation of a sandbox product to the end of its answer',
    unit: 'ms',
    advice: { explicitBucketBoundaries: MS },
  })
  const own = meter.createHistogram('gateway_own_duration', {
    description: 'Of an answered chat call, its duration less what the provider took of it',
    unit: 'ms',
    advice: { explicitBucketBoundaries: MS },
  })
  const settling = meter.createHistogram('gateway_settlement_duration', {
    description: 'From the end of a call to the word of the ledger that its reservation is closed',
    unit: 'ms',
    advice: { explicitBucketBoundaries: MS },
  })
  const circuits = meter.createCounter('gateway_circuit_changes', {
    description: 'Changes of the circuits of providers, by what they became',
  })
  const open = new Set<string>()
  meter
    .createObservableGauge('gateway_providers_resting', { description: 'Providers whose circuit is not closed' })
    .addCallback((gauge) => gauge.observe(open.size))
  meter
    .createObservableGauge('gateway_open_calls', {
      description: 'Chat calls under way, and invocations that wait for their run',
    })
    .addCallback((gauge) => gauge.observe(openCalls()))
  return {
    closed(how, tookMs) {
      closings.add(1, { how })
      if (tookMs !== undefined) settling.record(tookMs, { how })
    },
    refused: (code) => refusals.add(1, { code }),
    attemptFailed: ({ kind }) => attempts.add(1, { kind }),
    circuitChanged({ provider, state }) {
      circuits.add(1, { state })
      if (state === 'closed') open.delete(provider)
      else open.add(provider)
    },
    answered(kind, durationMs, providerMs) {
      durations.record(durationMs, { kind })
      if (providerMs !== undefined) own.record(Math.max(0, durationMs - providerMs), { kind })
    },
    invoked: (kind, durationMs) => invocations.record(durationMs, { kind }),
  }
}
