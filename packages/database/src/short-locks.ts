import { setTimeout as wait } from 'node:timers/promises'
import { DatabaseError, type Client } from 'pg'

/** A lock that was not free in time, and a deadlock victim. */
const lockedOutBy = new Set(['55P03', '40P01'])

export interface LockOptions {
  log: (line: string) => void
  /** Longest wait of one statement for a lock, in milliseconds. Default 3000. */
  lockTimeoutMs?: number
  /** Number of attempts. Default 20, half a second apart. */
  lockAttempts?: number
}

/**
 * Runs a transaction in which no statement waits long for a lock, since everyone else would queue behind it: it gives
 * up, and the whole transaction is retried.
 */
export async function withShortLocks(
  client: Client,
  title: string,
  { log, lockTimeoutMs = 3_000, lockAttempts = 20 }: LockOptions,
  work: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query('BEGIN')
      await client.query("SELECT set_config('lock_timeout', $1, true)", [String(lockTimeoutMs)])
      await work()
      await client.query('COMMIT')
      return
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      const cause = error instanceof Error ? (error.cause ?? error) : error
      const lockedOut = cause instanceof DatabaseError && lockedOutBy.has(cause.code ?? '')
      if (!lockedOut || attempt >= lockAttempts) throw error
      log(`${title}: a table is in use, trying again`)
      await wait(500)
    }
  }
}
