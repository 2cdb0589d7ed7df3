import { setTimeout as wait } from 'node:timers/promises'
import { DatabaseError, type Client } from 'pg'

/** A lock that was not free in time, and one that was taken back because two waited for each other. */
const lockedOutBy = new Set(['55P03', '40P01'])

export interface LockOptions {
  log: (line: string) => void
  /** How long one statement may wait for a lock, in milliseconds. Default 3000. */
  lockTimeoutMs?: number
  /** How often what met such a lock is tried. Default 20, half a second apart. */
  lockAttempts?: number
}

/**
 * Runs a transaction in which no statement waits long for a lock, since everyone else would queue behind it: it gives up, and all of it
 * is tried again.
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
