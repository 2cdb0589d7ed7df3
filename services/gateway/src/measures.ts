import type { Meter } from '@opentelemetry/api'
import type { OriginFailure } from '@gateway/origins/origin-failure'
import type { AnswerWanted } from './receive/answer-wanted.ts'

/** What the gateway counts. No label names an origin: /metrics stands beside the public paths. */
export interface Measures {
  /** How a reservation was closed. `late`: behind the answer; `lost`: not by this process. */
  closed(how: 'settled' | 'released' | 'fenced' | 'unknown' | 'late' | 'lost'): void
  refused(code: string): void
  attemptFailed(failure: OriginFailure): void
  /** Of a caller who left, the end is that of his call. */
  answered(kind: 'json' | 'stream' | 'replay' | 'sandbox', durationMs: number): void
  /** Of a caller who left, until he left: his run goes on elsewhere. */
  invoked(kind: AnswerWanted | 'mcp', durationMs: number): void
}

export function openMeasures(meter: Meter, openCalls: () => number): Measures {
  const closings = meter.createCounter('gateway_reservations_closed', {
    description: 'Reservations by how they were closed',
  })
  const refusals = meter.createCounter('gateway_refusals', { description: 'Answers that are not 2xx, by code' })
  const attempts = meter.createCounter('gateway_failed_attempts', {
    description: 'Attempts that an origin failed, by kind',
  })
  const durations = meter.createHistogram('gateway_chat_duration', {
    description: 'From receiving a chat call to the end of its answer',
    ...inMs,
  })
  const invocations = meter.createHistogram('gateway_invoke_duration', {
    description: 'From receiving an invocation of a sandbox product to the end of its answer',
    ...inMs,
  })
  meter
    .createObservableGauge('gateway_open_calls', {
      description: 'Chat calls under way, and invocations that wait for their run',
    })
    .addCallback((gauge) => gauge.observe(openCalls()))
  return {
    closed: (how) => closings.add(1, { how }),
    refused: (code) => refusals.add(1, { code }),
    attemptFailed: ({ kind }) => attempts.add(1, { kind }),
    answered: (kind, durationMs) => durations.record(durationMs, { kind }),
    invoked: (kind, durationMs) => invocations.record(durationMs, { kind }),
  }
}

const inMs = {
  unit: 'ms',
  advice: {
    explicitBucketBoundaries: [
      1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 100_000, 300_000,
    ],
  },
}
