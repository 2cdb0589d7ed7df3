import type { Meter } from '@opentelemetry/api'
import { seconds } from '@gateway/process/seconds'
import type { Logger } from '@gateway/process/logger'
import type { Report } from './check/check-books.ts'

export type Metrics = ReturnType<typeof openMetrics>

/**
 * What the ledger tells its operators: batches, waiting items, open reservations, write-offs, and whether the books add up.
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
  const aside = meter.createCounter('ledger.items.set_aside', {
    description: 'Items that Postgres refused for no business reason',
    unit: '{item}',
  })
  const lockedOut = meter.createCounter('ledger.batches.locked_out', {
    description: 'Batches that waited in vain for a lock that is no wallet’s',
    unit: '{batch}',
  })
  const excess = meter.createCounter('ledger.write_offs.excess', {
    description: 'Usage beyond the bound, charged to nobody',
    unit: '{microUSD}',
  })
  const fenced = meter.createCounter('ledger.write_offs.fenced', {
    description: 'Answers given after their reservation had ended, charged to nobody',
    unit: '{answer}',
  })
  const findings = meter.createGauge('ledger.check.findings', {
    description: 'What does not add up at the last check; 0 is right',
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
      log.warn({ err: error, jobs }, 'the node queue is away; these nodes are requeued')
    },
    reclaimed(nodes: number): void {
      reclaimed.add(nodes)
    },
    lockedOut(): void {
      lockedOut.add(1)
    },
    setAside(item: { id: string }, error: unknown): void {
      aside.add(1)
      log.error({ err: error, id: item.id }, 'an item was set aside: Postgres refused it')
    },
    keepFailed(item: string, error: unknown): void {
      log.error({ err: error, item }, 'an item that was set aside could not be kept')
    },
    settledMore(excessMicro: number): void {
      excess.add(excessMicro)
      log.error({ excessMicro }, 'a provider reported more than the bound: the overheads of its product are too small')
    },
    fenced(): void {
      fenced.add(1)
    },
    checked(report: Report): void {
      findings.record(report.findings.length)
      wallets.record(report.wallets)
      checkedMs = now()
    },
  }
}
