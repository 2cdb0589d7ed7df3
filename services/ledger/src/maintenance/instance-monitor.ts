import type { Deps } from '../deps.ts'

// After an outage of the ledger or of Postgres every instance looks silent, because nobody could take its heartbeat. So
// silence counts only after this job has been able to look, without a gap, for as long as that instance may be silent.
// It looks at the clock of the database: a frozen process, a hanging query and a clock that jumps are all gaps in it.

/** Heartbeats come every five seconds at most, and three may be missing. */
const MAX_GAP_MS = 5_000

/** For how long heartbeats could be taken, by the clock of the database. */
interface Watch {
  sinceMs: number
  lastMs: number
}

/** Ends the instances that have fallen silent. It keeps its watch between runs, so there is one for each replica. */
export function openInstanceMonitor(deps: Pick<Deps, 'heartbeats'>) {
  let watch: Watch = { sinceMs: 0, lastMs: 0 }
  return {
    async runOnce(): Promise<{ ended: number }> {
      try {
        const { atMs, ended } = await endSilentInstances(deps, watch)
        const gap = atMs < watch.lastMs || atMs > watch.lastMs + MAX_GAP_MS
        watch = { sinceMs: gap ? atMs : watch.sinceMs, lastMs: atMs }
        return { ended }
      } catch (error) {
        watch = { ...watch, lastMs: 0 } // the next run begins a new watch
        throw error
      }
    },
  }
}

/** Ends every instance that has been silent for longer than it said it would be, if it was watched for so long. */
async function endSilentInstances({ heartbeats }: Pick<Deps, 'heartbeats'>, { sinceMs, lastMs }: Watch) {
  const [row] = await heartbeats.prisma.$queryRaw<[{ at_ms: bigint; ended: bigint }]>`
    WITH look AS MATERIALIZED (SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at_ms),
    ended AS (
      UPDATE money.instances SET ended_at = clock_timestamp() FROM look
       WHERE ended_at IS NULL AND look.at_ms BETWEEN ${lastMs}::bigint AND ${lastMs}::bigint + ${MAX_GAP_MS}::bigint
         AND dead_after_ms <= look.at_ms - ${sinceMs}::bigint
         AND heartbeat_at + dead_after_ms * interval '1 millisecond' < clock_timestamp()
      RETURNING id)
    SELECT at_ms, (SELECT count(*) FROM ended) AS ended FROM look`
  return { atMs: Number(row.at_ms), ended: Number(row.ended) }
}
