import type { Database } from '@gateway/database/client'
import { endSilentInstances, type Watch } from '../instances/heartbeat.ts'

// After an outage of the ledger or of Postgres every instance looks silent, because nobody could take its heartbeat. So silence
// counts only after this maintenance job has been able to look, without a gap, for as long as that instance may be silent. It looks at
// the clock of the database: a frozen process, a hanging query and a clock that jumps are all gaps in it.

/** Heartbeats come every five seconds at most, and three may be missing. */
const MOST_GAP_MS = 5_000

/** Ends the instances that have fallen silent. */
export function endSilent(database: Pick<Database, 'prisma'>): () => Promise<void> {
  const look = endSilentInstances(database)
  let watch: Watch = { sinceMs: 0, lastMs: 0, gapMs: MOST_GAP_MS }
  return async () => {
    try {
      watch = await look(watch)
    } catch (error) {
      watch = { ...watch, lastMs: 0 } // the next look begins anew
      throw error
    }
  }
}
