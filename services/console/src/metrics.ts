import { type AssetMetrics, openAssetMetrics } from '@gateway/assets/asset-metrics'
import type { Meter } from '@opentelemetry/api'
import type { FinishedRequest } from '@gateway/service-kit/http/preamble'
import { seconds } from '@gateway/service-kit/process/telemetry'

/** Metrics of the console. */
export interface Metrics {
  /** Counts a finished request. Requests whose client disconnected are not counted. */
  answered(request: FinishedRequest): void
  /** Counts a statement that does not reconcile. */
  statementDiffered(): void
  assets: AssetMetrics
}

export function openMetrics(meter: Meter): Metrics {
  const duration = meter.createHistogram('console.requests.duration', {
    description: 'Requests by route and status',
    ...seconds,
  })
  const differed = meter.createCounter('console.statements.differed', {
    description: 'Statements of which wallet, journal, fundings and corrections do not say the same',
    unit: '{statement}',
  })
  return {
    answered({ method, route, status, ms, left }) {
      if (!left) duration.record(ms / 1_000, { method, route, status })
    },
    statementDiffered() {
      differed.add(1)
    },
    assets: openAssetMetrics(meter, 'console'),
  }
}
