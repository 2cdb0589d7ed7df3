import { type AssetMetrics, openAssetMetrics } from '@gateway/assets/asset-store'
import type { Meter } from '@opentelemetry/api'
import type { FinishedRequest } from '@gateway/service-kit/http/preamble'
import type { ReachedLimit, RequestLimits } from './request/request-limits.ts'
import { seconds } from '@gateway/service-kit/process/telemetry'

/** Metrics of the console. */
export interface Metrics {
  /** Counts a finished request. Requests whose client disconnected are not counted. */
  answered(request: FinishedRequest): void
  /** Counts a response other than 2xx. */
  refused(code: string): void
  /** Counts a request that was refused because its caller, or all of them, had reached a limit. */
  overloaded(limit: ReachedLimit): void
  /** Observes the permits held, by kind. */
  observePermits(counts: RequestLimits['counts']): void
  /** Sets the findings of the last check of the audit, which ended now. */
  auditChecked(findings: number): void
  /** Counts a statement that does not reconcile. */
  statementDiffered(): void
  assets: AssetMetrics
}

export function openMetrics(meter: Meter): Metrics {
  const duration = meter.createHistogram('console.requests.duration', {
    description: 'Duration of requests, by route and status',
    ...seconds,
  })
  const differed = meter.createCounter('console.statements.differed', {
    description: 'Statements whose wallet, journal, fundings and corrections differ',
    unit: '{statement}',
  })
  const auditFindings = meter.createGauge('console.audit.findings', {
    description: 'Findings of the last check of the audit; 0 means that every entry fits its seal',
    unit: '{finding}',
  })
  let auditCheckedAt = performance.now()
  meter
    .createObservableGauge('console.audit.check.age', {
      description: 'Time since the last check of the audit, or since the start',
      unit: 's',
    })
    .addCallback((gauge) => gauge.observe((performance.now() - auditCheckedAt) / 1_000))
  const refusals = meter.createCounter('console.refusals', {
    description: 'Responses other than 2xx, by error code',
    unit: '{refusal}',
  })
  const overloads = meter.createCounter('console.requests.overloaded', {
    description: 'Requests refused with `overloaded`, by limit',
    unit: '{request}',
  })
  const permits = meter.createObservableGauge('console.requests.permits', {
    description: 'Permits held by requests in progress, by kind',
    unit: '{permit}',
  })
  // An alert does not see the value with which a series begins.
  differed.add(0)
  refusals.add(0, { code: 'quota_reached' })
  return {
    answered({ method, route, status, ms, left }) {
      if (!left) duration.record(ms / 1_000, { method, route, status })
    },
    refused: (code) => refusals.add(1, { code }),
    overloaded: (limit) => overloads.add(1, { limit }),
    observePermits: (counts) =>
      permits.addCallback((gauge) => {
        for (const [kind, held] of Object.entries(counts())) gauge.observe(held, { kind })
      }),
    auditChecked(findings) {
      auditFindings.record(findings)
      auditCheckedAt = performance.now()
    },
    statementDiffered() {
      differed.add(1)
    },
    assets: openAssetMetrics(meter, 'console'),
  }
}
