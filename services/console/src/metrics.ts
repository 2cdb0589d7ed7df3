import type { Meter } from '@opentelemetry/api'
import type { FinishedRequest } from '@gateway/http/preamble'

/** What the console counts. */
export interface Metrics {
  /** A request that was answered; one that its client left is not counted. */
  answered(request: FinishedRequest): void
}

export function openMetrics(meter: Meter): Metrics {
  const duration = meter.createHistogram('console.request.duration', {
    description: 'Requests by route and status',
    unit: 'ms',
  })
  return {
    answered({ method, route, status, ms, left }) {
      if (!left) duration.record(ms, { method, route, status })
    },
  }
}
