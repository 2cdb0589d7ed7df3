import type { Meter } from '@opentelemetry/api'
import { observeArchive } from './archive/archive-books.ts'
import type { LedgerConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { turnAges } from './maintenance/maintenance-turn.ts'
import { plannedDays } from './maintenance/partition-planner.ts'
import { callFunction } from '@gateway/database/call-function'

/** Observes, whenever the metrics are read, what waits and what is open on the books. */
export function observeState(
  meter: Meter,
  deps: Pick<Deps, 'admissionBatcher' | 'nodeBatcher' | 'reads'>,
  config: Pick<LedgerConfig, 'ARCHIVE_AFTER_DAYS' | 'CHECK_EVERY_SECONDS'>,
): void {
  meter
    .createObservableGauge('ledger.items.waiting', { description: 'Items waiting for a batch', unit: '{item}' })
    .addCallback((result) => result.observe(deps.admissionBatcher.waiting().all))
  meter
    .createObservableGauge('ledger.node_items.waiting', {
      description: 'Node items waiting for a batch',
      unit: '{item}',
    })
    .addCallback((result) => result.observe(deps.nodeBatcher.waiting().all))
  observeQuarantined(meter, deps)
  observeExecutions(meter, deps)
  observeReservations(meter, deps)
  observeDatabase(meter, deps)
  observePartitions(meter, deps)
  observeChecks(meter, deps, config)
  observeArchive(meter, deps, config.ARCHIVE_AFTER_DAYS)
}

function observeQuarantined(meter: Meter, { reads }: Pick<Deps, 'reads'>): void {
  meter
    .createObservableGauge('ledger.items.kept', {
      description: 'Settlements and completions kept until Postgres accepts them',
      unit: '{item}',
    })
    .addCallback(async (result) => result.observe(await reads.prisma.quarantinedItem.count()))
}

function observeExecutions(meter: Meter, { reads }: Pick<Deps, 'reads'>): void {
  const open = meter.createObservableGauge('ledger.executions.open', {
    description: 'Open executions',
    unit: '{execution}',
  })
  const running = meter.createObservableGauge('ledger.nodes.running', {
    description: 'Nodes claimed by a worker',
    unit: '{node}',
  })
  meter.addBatchObservableCallback(
    async (result) => {
      const [row] = await reads.prisma.$queryRaw<[{ open: bigint; running: bigint }]>`
        SELECT (SELECT count(*) FROM money.executions WHERE completed_at IS NULL) AS open,
               (SELECT count(*) FROM money.execution_nodes WHERE state = 'Running') AS running`
      result.observe(open, Number(row.open))
      result.observe(running, Number(row.running))
    },
    [open, running],
  )
}

function observeReservations(meter: Meter, { reads }: Pick<Deps, 'reads'>): void {
  const open = meter.createObservableGauge('ledger.reservations.open', {
    description: 'Open reservations',
    unit: '{reservation}',
  })
  const oldest = meter.createObservableGauge('ledger.reservations.oldest', {
    description: 'Age of the oldest open reservation',
    unit: 's',
  })
  meter.addBatchObservableCallback(
    async (result) => {
      const [row] = await reads.prisma.$queryRaw<[{ open: bigint; oldest: number | null }]>`
        SELECT count(*) AS open, extract(epoch FROM clock_timestamp() - min(admitted_at))::float8 AS oldest FROM money.reservations`
      result.observe(open, Number(row.open))
      result.observe(oldest, row.oldest ?? 0)
    },
    [open, oldest],
  )
}

function observePartitions(meter: Meter, deps: Pick<Deps, 'reads'>): void {
  meter
    .createObservableGauge('ledger.partitions.planned', {
      description: 'Days ahead for which a table has partitions',
      unit: 'd',
    })
    .addCallback(async (result) => {
      for (const { table, days } of await plannedDays(deps)) result.observe(days, { table })
    })
}

/**
 * Observes how long ago the check and the recheck of the books last ended without an error, on any replica. Before the
 * first one ever, since when this process has run.
 */
export function observeChecks(
  meter: Meter,
  { reads }: Pick<Deps, 'reads'>,
  { CHECK_EVERY_SECONDS: everySeconds }: Pick<LedgerConfig, 'CHECK_EVERY_SECONDS'>,
): void {
  const startedMs = performance.now()
  const check = meter.createObservableGauge('ledger.check.age', {
    description: 'Time since the last check of the books',
    unit: 's',
  })
  const recheck = meter.createObservableGauge('ledger.recheck.age', {
    description: 'Time since the last recheck of older parts of the books without an error',
    unit: 's',
  })
  meter.addBatchObservableCallback(
    async (result) => {
      const ages = await turnAges({ reads })
      const upSeconds = (performance.now() - startedMs) / 1_000
      result.observe(check, ages.get('books-check') ?? upSeconds)
      result.observe(recheck, ages.get('books-recheck') ?? upSeconds)
    },
    [check, recheck],
  )
  meter
    .createObservableGauge('ledger.check.interval', { description: 'Time between checks of the books', unit: 's' })
    .addCallback((result) => result.observe(everySeconds))
}

/** Observes, whenever the metrics are read, what slows the database down and what lags behind. */
export function observeDatabase(meter: Meter, deps: Pick<Deps, 'reads'>): void {
  observeTransactions(meter, deps)
  observeUsage(meter, deps)
}

/** Reports nothing if this database hides the sessions of others (oldest_transaction). */
function observeTransactions(meter: Meter, { reads }: Pick<Deps, 'reads'>): void {
  const oldest = meter.createObservableGauge('ledger.transactions.oldest', {
    description: 'Age of the oldest transaction in the database, of any session',
    unit: 's',
  })
  const age = meter.createObservableGauge('ledger.snapshots.age', {
    description: 'Age of the oldest snapshot in transactions; row versions replaced since are kept',
    unit: '{transaction}',
  })
  meter.addBatchObservableCallback(
    async (result) => {
      const row = await callFunction(reads.sql, 'money.oldest_transaction', {})
      if (row.oldest_ms !== null) result.observe(oldest, Number(row.oldest_ms) / 1_000)
      if (row.snapshot_age !== null) result.observe(age, Number(row.snapshot_age))
    },
    [oldest, age],
  )
}

function observeUsage(meter: Meter, { reads }: Pick<Deps, 'reads'>): void {
  meter
    .createObservableGauge('ledger.usage.behind', {
      description: 'Journal entries not yet rolled up into usage',
      unit: '{entry}',
    })
    .addCallback(async (result) => {
      const [row] = await reads.prisma.$queryRaw<[{ behind: bigint }]>`
        SELECT coalesce(sum(w.journal_seq - coalesce(p.seq, 0)), 0)::bigint AS behind
          FROM money.wallets w LEFT JOIN money.usage_positions p ON p.project = w.project`
      result.observe(Number(row.behind))
    })
}
