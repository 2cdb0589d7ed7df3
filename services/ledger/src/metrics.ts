import type { Meter } from '@opentelemetry/api'
import { seconds } from '@gateway/service-kit/process/telemetry'
import type { Logger } from '@gateway/service-kit/process/logger'

export type Metrics = ReturnType<typeof openMetrics>

/** Result of a check of the books: the number of wallets checked, and of findings. */
export interface CheckRound {
  wallets: number
  findings: number
}

/**
 * Metrics of the ledger: batches, waiting items, open reservations, write-offs, and whether the books add up.
 * @param now monotonic milliseconds
 */
export function openMetrics(meter: Meter, log: Logger, now: () => number) {
  const items = meter.createHistogram('ledger.batch.items', {
    description: 'Items decided in one batch',
    unit: '{item}',
  })
  const ms = meter.createHistogram('ledger.batch.duration', { description: 'Round trip of one batch', ...seconds })
  const nodeItems = meter.createHistogram('ledger.node_batch.items', {
    description: 'Items about nodes decided in one batch',
    unit: '{item}',
  })
  const nodeMs = meter.createHistogram('ledger.node_batch.duration', {
    description: 'Reading, deciding and writing one batch of items about nodes',
    ...seconds,
  })
  const notEnqueued = meter.createCounter('ledger.nodes.enqueue_failed', {
    description: 'Nodes that the queue did not take; the job requeuer enqueues them again',
    unit: '{node}',
  })
  const reclaimed = meter.createCounter('ledger.nodes.reclaimed', {
    description: 'Nodes taken back because their worker had ended; each replica that finds one counts it',
    unit: '{node}',
  })
  const perhapsCalled = meter.createCounter('ledger.nodes.perhaps_called', {
    description:
      'Calls of nodes that were given up without a word of how they ended; their providers may have served them',
    unit: '{call}',
  })
  const quarantined = meter.createCounter('ledger.items.quarantined', {
    description: 'Items that Postgres refused for no business reason',
    unit: '{item}',
  })
  const deliveries = meter.createCounter('ledger.webhooks.deliveries', {
    description: 'Tries to post a notice to a webhook, by outcome; dead: it is not tried again',
    unit: '{try}',
  })
  const lockedOut = meter.createCounter('ledger.batches.locked_out', {
    description: 'Batches that waited in vain for a lock that is not a wallet’s',
    unit: '{batch}',
  })
  const excess = meter.createCounter('ledger.write_offs.excess', {
    description: 'Usage beyond the bound, charged to no one',
    unit: '{microUSD}',
  })
  const fenced = meter.createCounter('ledger.write_offs.fenced', {
    description: 'Answers given after their reservation had ended, charged to no one',
    unit: '{answer}',
  })
  const answersLost = meter.createCounter('ledger.answers.not_kept', {
    description: 'Answers that could not be saved with their settlement; a repeat of these calls is refused',
    unit: '{answer}',
  })
  const findings = meter.createGauge('ledger.check.findings', {
    description: 'What does not add up at the last check; 0 is right',
    unit: '{finding}',
  })
  const recheckFindings = meter.createGauge('ledger.recheck.findings', {
    description: 'What does not add up in older parts of the books, which are looked at again some by some; 0 is right',
    unit: '{finding}',
  })
  let checkedMs = now()
  meter
    .createObservableGauge('ledger.check.age', { description: 'Time since the books were last checked', unit: 's' })
    .addCallback((result) => result.observe((now() - checkedMs) / 1_000))
  const wallets = meter.createGauge('ledger.check.wallets', {
    description: 'Wallets looked at by the last check',
    unit: '{wallet}',
  })

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
    settledMore(excessMicro: number): void {
      excess.add(excessMicro)
      log.error({ excessMicro }, 'provider reported more than the bound: the overheads of its product are too small')
    },
    fenced(): void {
      fenced.add(1)
    },
    answersLost(answers: number): void {
      answersLost.add(answers)
      log.warn({ answers }, 'answers not saved: their table was locked')
    },
    /** @param agoMs how long ago that round ended, on any replica */
    checked(round: CheckRound, agoMs: number): void {
      findings.record(round.findings)
      wallets.record(round.wallets)
      checkedMs = now() - agoMs
    },
    rechecked(found: number): void {
      recheckFindings.record(found)
    },
  }
}
