import type { Meter } from '@opentelemetry/api'

/**
 * Metrics of a service's calls to providers. Their label is the name that the operator gave the provider; no caller
 * sees metrics.
 */
export interface ProviderMetrics {
  /** A call got no connection. `full`: too many calls waited already. `late`: it waited too long. */
  noConnection(facts: { provider: string; why: 'full' | 'late' }): void
  /** The usage that a provider reported was not used, or not as reported. */
  usageReplaced(facts: { provider: string; reason: string }): void
  /** Calls whose content was to be captured, and could not be. */
  contentDropped(calls: number): void
  /** The circuit breaker of a provider changed to this state. */
  circuitChanged(change: { provider: string; state: string }): void
  watchCircuits(read: () => { provider: string; state: string }[]): void
  /** Every provider is there at the first reading. */
  watchConnections(read: () => { provider: string; used: number; waiting: number }[]): void
}

/** @param service prefix of the names of the metrics */
export function openProviderMetrics(meter: Meter, service: string): ProviderMetrics {
  const used = meter.createObservableGauge(`${service}.provider.connections.used`, {
    description: 'Connections to a provider in use by calls',
    unit: '{connection}',
  })
  const waiting = meter.createObservableGauge(`${service}.provider.calls.waiting`, {
    description: 'Calls waiting for a connection to a provider',
    unit: '{call}',
  })
  const refused = meter.createCounter(`${service}.provider.waits.refused`, {
    description:
      'Calls refused because they waited too long for a connection to a provider, or because too many waited',
    unit: '{call}',
  })
  const replaced = meter.createCounter(`${service}.provider.usage.replaced`, {
    description:
      'Calls not charged by the usage that the provider reported, which was missing or implausible, by reason',
    unit: '{call}',
  })
  const dropped = meter.createCounter(`${service}.content.dropped`, {
    description:
      'Calls whose prompts and answers could not be captured: too many at once, or the ledger was unavailable',
    unit: '{call}',
  })
  const circuits = meter.createCounter(`${service}.provider.circuit.changes`, {
    description: 'Circuit breaker changes of providers, by new state',
    unit: '{change}',
  })
  const open = meter.createObservableGauge(`${service}.provider.circuits.open`, {
    description: '1 while the circuit breaker of a provider keeps calls from it, otherwise 0',
    unit: '{circuit}',
  })
  return {
    circuitChanged: ({ provider, state }) => circuits.add(1, { provider, state }),
    watchCircuits(read) {
      open.addCallback((gauge) => {
        for (const { provider, state } of read()) gauge.observe(state === 'closed' ? 0 : 1, { provider })
      })
    },
    contentDropped: (calls) => dropped.add(calls),
    noConnection: ({ provider, why }) => refused.add(1, { provider, reason: why }),
    usageReplaced: ({ provider, reason }) => replaced.add(1, { provider, reason }),
    watchConnections(read) {
      // An alert does not see the value with which a series begins.
      for (const { provider } of read()) for (const reason of ['full', 'late']) refused.add(0, { provider, reason })
      used.addCallback((gauge) => {
        for (const each of read()) gauge.observe(each.used, { provider: each.provider })
      })
      waiting.addCallback((gauge) => {
        for (const each of read()) gauge.observe(each.waiting, { provider: each.provider })
      })
    },
  }
}
