import { openDatabase, type Database } from '@gateway/database/client'
import type { ServiceTools } from '@gateway/service-kit/process/open-service'
import type { LedgerConfig } from './config.ts'
import type { Deps } from './deps.ts'

// The connections of one replica, in pools that do not wait for each other.
//   P1  A heartbeat waits for no crowd of requests, no locked wallet and no long statement: otherwise a ledger that is
//       only busy would declare living processes dead.
//   P2  Each pool has a time limit for its queries, at which Postgres is asked to cancel them. A connection that is
//       silent for a second more is given up, and the outcome is unknown; the caller repeats the request. Where a query
//       may wait for a lock the limit is longer than `lock_timeout`, and in maintenance longer than
//       `statement_timeout`, so that Postgres answers first.
//   P3  Silence on one pool means silence on all: their idle connections are replaced at once.

type Pools = Pick<Deps, 'admissions' | 'executions' | 'reads' | 'heartbeats' | 'locking' | 'maintenance'>

/** With the extra second, as long as callers of a request wait for its answer. */
const QUESTION_MS = 4_000
const HEARTBEAT_MS = 2_000
const LOCKING_MS = 7_000
const MAINTENANCE_MS = 20_000

/** Opens every pool, and registers how to close it. */
export async function openPools(
  config: Pick<LedgerConfig, 'DATABASE_URL' | 'PREPARED_STATEMENTS' | 'BATCHES_IN_FLIGHT' | 'READ_CONNECTIONS'>,
  { log, onStop }: Pick<ServiceTools, 'log' | 'onStop'>,
): Promise<Pools> {
  const opened: Database[] = []

  async function open(name: keyof Pools, poolSize: number, queryLimitMs: number): Promise<Database> {
    const database = await openDatabase({
      url: config.DATABASE_URL,
      poolSize,
      queryLimitMs,
      role: `ledger-${name}`,
      preparedStatements: config.PREPARED_STATEMENTS,
      onConnectionLost: (error) => log.warn({ err: error, pool: name }, 'database connection lost'),
      onSilence: () => opened.forEach((each) => each.renewIdle()), // P3
    })
    opened.push(database)
    onStop(`database ${name}`, () => database.close())
    return database
  }

  return {
    admissions: await open('admissions', config.BATCHES_IN_FLIGHT, QUESTION_MS),
    executions: await open('executions', 2, QUESTION_MS), // one for the node batcher, one for the start batcher
    reads: await open('reads', config.READ_CONNECTIONS, QUESTION_MS),
    heartbeats: await open('heartbeats', 3, HEARTBEAT_MS), // heartbeats, and two jobs that find missing ones
    locking: await open('locking', 3, LOCKING_MS),
    maintenance: await open('maintenance', 3, MAINTENANCE_MS),
  }
}
