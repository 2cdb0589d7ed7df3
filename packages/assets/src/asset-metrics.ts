import type { Telemetry } from '@gateway/service-kit/process/telemetry'

/** Metrics of a service that stores or reads assets. */
export interface AssetMetrics {
  /** A refusal because a limit was reached. */
  refused(limit: 'reads' | 'bytes'): void
  watch(state: { reads: () => number; bytes: () => number }): void
}

export const unmeasured: AssetMetrics = { refused() {}, watch() {} }

/** @param service prefix of the names */
export function openAssetMetrics(meter: Telemetry['meter'], service: string): AssetMetrics {
  const refusals = meter.createCounter(`${service}.assets.refused`, {
    description: 'Reads and uploads of assets refused because of a limit, by limit',
    unit: '{refusal}',
  })
  const reads = meter.createObservableGauge(`${service}.assets.reads.open`, {
    description: 'Assets being read by callers',
    unit: '{read}',
  })
  const bytes = meter.createObservableGauge(`${service}.assets.transit`, {
    description: 'Bytes of assets being stored, which are files in the temporary folder until then',
    unit: 'By',
  })
  return {
    refused: (limit) => refusals.add(1, { limit }),
    watch(state) {
      reads.addCallback((gauge) => gauge.observe(state.reads()))
      bytes.addCallback((gauge) => gauge.observe(state.bytes()))
    },
  }
}
