import type { Meter } from '@opentelemetry/api'
import { seconds } from '@gateway/service-kit/process/telemetry'
import type { Logger } from '@gateway/service-kit/process/logger'

export type Metrics = ReturnType<typeof openMetrics>

/** Result of a check of the books: the number of wallets checked, and of findings. */
export interface CheckRound {
  wallets: number
  findings: number
}

/** A closed reservation, and what its usage cost beyond it, in micro-USD. */
export interface Excess {
  reservation: string
  micro: number
}

/** An excess, and whose it is: names that could not be read are absent. */
export interface ReportedExcess extends Excess {
  /** That responded; `unknown` if that was not recorded. */
  provider: string
  product?: string | null
  project?: string | null
  /** null: a direct call. */
  execution?: string | null
  node?: string | null
}

/**
 * Metrics of the ledger: batches, waiting items, open reservations, write-offs, and whether the books add up.
 */
export function openMetrics(meter: Meter, log: Logger) {
  const items = meter.createHistogram('ledger.batch.items', {
    description: 'Items decided in one batch',
    unit: '{item}',
  })
  const ms = meter.createHistogram('ledger.batch.duration', {
    description: 'Duration of one batch, as a round trip to Postgres',
    ...seconds,
  })
  const nodeItems = meter.createHistogram('ledger.node_batch.items', {
    description: 'Node items decided in one batch',
    unit: '{item}',
  })
  const nodeMs = meter.createHistogram('ledger.node_batch.duration', {
    description: 'Duration of reading, deciding and writing one batch of node items',
    ...seconds,
  })
  const notEnqueued = meter.createCounter('ledger.nodes.enqueue_failed', {
    description: 'Nodes that could not be enqueued; the job requeuer enqueues them again',
    unit: '{node}',
  })
  const reclaimed = meter.createCounter('ledger.nodes.reclaimed', {
    description: 'Nodes reclaimed from workers that ended; every replica that finds one counts it',
    unit: '{node}',
  })
  const perhapsCalled = meter.createCounter('ledger.nodes.perhaps_called', {
    description: 'Node calls whose outcome is unknown; their providers may have served them',
    unit: '{call}',
  })
  const quarantined = meter.createCounter('ledger.items.quarantined', {
    description: 'Items that Postgres refused for a technical reason',
    unit: '{item}',
  })
  const deliveries = meter.createCounter('ledger.webhooks.deliveries', {
    description: 'Attempts to deliver an alert to a destination, by outcome; dead: no further attempt',
    unit: '{try}',
  })
  const lockedOut = meter.createCounter('ledger.batches.locked_out', {
    description: "Batches that timed out waiting for a lock other than a wallet's",
    unit: '{batch}',
  })
  const excess = meter.createCounter('ledger.write_offs.excess', {
    description: 'Usage beyond the bound, not charged, in micro-USD, by provider',
    unit: '{microUSD}',
  })
  const fenced = meter.createCounter('ledger.write_offs.fenced', {
    description: 'Responses completed after their reservation had ended, not charged',
    unit: '{answer}',
  })
  const restored = meter.createCounter('ledger.reservations.restored', {
    description: 'Reservations lost in a failure of Postgres and restored by their settlement',
    unit: '{reservation}',
  })
  const answersLost = meter.createCounter('ledger.answers.not_kept', {
    description: 'Responses not saved with their settlement; repeats of these calls are refused',
    unit: '{answer}',
  })
  const findings = meter.createGauge('ledger.check.findings', {
    description: 'Findings of the last check of the books; 0 means that they add up',
    unit: '{finding}',
  })
  const recheckFindings = meter.createGauge('ledger.recheck.findings', {
    description: 'Findings of the last recheck of older parts of the books; 0 means that they add up',
    unit: '{finding}',
  })
  const wallets = meter.createGauge('ledger.check.wallets', {
    description: 'Wallets covered by the last check',
    unit: '{wallet}',
  })

  // An alert does not see the value with which a series begins.
  for (const counter of [notEnqueued, reclaimed, quarantined, lockedOut, fenced, answersLost]) counter.add(0)
  deliveries.add(0, { outcome: 'dead' })

  return {
    batch(count: number, tookMs: number): void {
      items.record(count)
      ms.record(tookMs / 1_000)
    },
    nodeBatch(count: number, tookMs: number): void {
      nodeItems.record(count)
      nodeMs.record(tookMs / 1_000)
    },
    enqueueFailed(error: unknown, jobs: number): void {
      notEnqueued.add(jobs)
      log.warn({ err: error, jobs }, 'node queue unavailable, these nodes will be enqueued again')
    },
    pushFailed(error: unknown): void {
      log.warn({ err: error }, 'lines of progress were not sent, their followers will read them')
    },
    reclaimed(nodes: number): void {
      reclaimed.add(nodes)
    },
    posted(outcome: 'delivered' | 'failed' | 'dead'): void {
      deliveries.add(1, { outcome })
    },
    lockedOut(): void {
      lockedOut.add(1)
    },
    perhapsCalled(calls: number): void {
      perhapsCalled.add(calls)
    },
    quarantined(item: { id: string }, error: unknown): void {
      quarantined.add(1)
      log.error({ err: error, id: item.id }, 'item quarantined: refused by postgres')
    },
    keepFailed(item: string, error: unknown): void {
      log.error({ err: error, item }, 'quarantined item not kept')
    },
    settledMore({ micro, ...call }: ReportedExcess): void {
      excess.add(micro, { provider: call.provider })
      log.error({ excessMicro: micro, ...call }, 'provider reported more than the bound')
    },
    fenced(): void {
      fenced.add(1)
    },
    restored(reservation: string): void {
      restored.add(1)
      log.warn({ reservation }, 'reservation restored: Postgres had lost it in a failure')
    },
    restoreFailed(reservation: string, error: unknown): void {
      log.warn({ err: error, reservation }, 'lost reservation not restored yet; its settlement is repeated')
    },
    answersLost(answers: number): void {
      answersLost.add(answers)
      log.warn({ answers }, 'answers not saved: their table was locked')
    },
    checked(round: CheckRound): void {
      findings.record(round.findings)
      wallets.record(round.wallets)
    },
    rechecked(found: number): void {
      recheckFindings.record(found)
    },
  }
}
