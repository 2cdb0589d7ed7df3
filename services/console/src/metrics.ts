import type { Meter } from '@opentelemetry/api'
import type { FinishedRequest } from '@gateway/http/preamble'
import { seconds } from '@gateway/process/seconds'

/** What the console counts. */
export interface Metrics {
  /** A request that was answered; one that its client left is not counted. */
  answered(request: FinishedRequest): void
}

export function openMetrics(meter: Meter): Metrics {
  const duration = meter.createHistogram('console.requests.duration', {
    description: 'Requests by route and status',
    ...seconds,
  })
  return {
    answered({ method, route, status, ms, left }) {
      if (!left) duration.record(ms / 1_000, { method, route, status })
    },
  }
}
