import type { Meter } from '@opentelemetry/api'
import { callFunction } from '@gateway/database/call-function'
import type { Deps } from './deps.ts'

/** What is looked up in the database whenever the metrics are read: what slows it down, and what lags behind. */
export function observeDatabase(meter: Meter, deps: Pick<Deps, 'reads'>): void {
  observeTransactions(meter, deps)
  observeUsage(meter, deps)
}

/** Without a figure where this database lets nobody see the sessions of others (oldest_transaction). */
function observeTransactions(meter: Meter, { reads }: Pick<Deps, 'reads'>): void {
  const oldest = meter.createObservableGauge('ledger.transactions.oldest', {
    description: 'Age of the oldest transaction in the database, whoever has it',
    unit: 's',
  })
  const age = meter.createObservableGauge('ledger.snapshots.age', {
    description: 'Transactions that began since the oldest snapshot was taken that is held: what they replaced stays',
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
      description: 'Journal entries whose usage is not rolled up yet',
      unit: '{entry}',
    })
    .addCallback(async (result) => {
      const [row] = await reads.prisma.$queryRaw<[{ behind: bigint }]>`
        SELECT coalesce(sum(w.journal_seq - coalesce(p.seq, 0)), 0)::bigint AS behind
          FROM money.wallets w LEFT JOIN money.usage_positions p ON p.project = w.project`
      result.observe(Number(row.behind))
    })
}
