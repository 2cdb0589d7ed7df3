import type { Telemetry } from '@gateway/service-kit/process/telemetry'

/** Metrics of a service that stores or reads assets. */
export interface AssetMetrics {
  /** A refusal because a limit was reached. */
  refused(limit: 'reads'): void
  watch(state: { reads: () => number }): void
}

export const unmeasured: AssetMetrics = { refused() {}, watch() {} }

/** @param service prefix of the names */
export function openAssetMetrics(meter: Telemetry['meter'], service: string): AssetMetrics {
  const refusals = meter.createCounter(`${service}.assets.refused`, {
    description: 'Reads of assets that were refused because a limit was reached, by limit',
    unit: '{refusal}',
  })
  const reads = meter.createObservableGauge(`${service}.assets.reads.open`, {
    description: 'Assets that callers are reading',
    unit: '{read}',
  })
  return {
    refused: (limit) => refusals.add(1, { limit }),
    watch: (state) => reads.addCallback((gauge) => gauge.observe(state.reads())),
  }
}
