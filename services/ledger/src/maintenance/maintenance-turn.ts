import type { Deps } from '../deps.ts'

// A job that one replica does for all. Who has the turn is in a row, with the time until which they have it, by the
// clock of the database: an advisory lock would be lost behind a pooler that gives each transaction another session.
// A replica that dies loses its turn when that time is over.

export interface Turn {
  job: string
  /** The replica that asks. */
  replica: string
  /** How long it has the turn, unless it keeps it by `keepTurn`. */
  forMs: number
  /** A turn that was done more recently is not taken again. */
  everyMs: number
}

export interface DoneTurn {
  agoMs: number
  report: string
}

/** Takes the turn; answers whether it was free and due. */
export async function takeTurn({ reads }: Pick<Deps, 'reads'>, turn: Turn): Promise<boolean> {
  const taken = await reads.prisma.$executeRaw`
    INSERT INTO money.maintenance_turns AS t (job, replica, until)
    VALUES (${turn.job}, ${turn.replica}, clock_timestamp() + ${turn.forMs}::int * interval '1 millisecond')
    ON CONFLICT (job) DO UPDATE SET replica = excluded.replica, until = excluded.until
     WHERE t.until <= clock_timestamp()
       AND coalesce(t.done_at <= clock_timestamp() - ${turn.everyMs}::int * interval '1 millisecond', true)`
  return taken === 1
}

/** Has the turn for another `forMs`; answers whether the replica still had it. */
export async function keepTurn({ reads }: Pick<Deps, 'reads'>, { job, replica, forMs }: Turn): Promise<boolean> {
  const kept = await reads.prisma.$executeRaw`
    UPDATE money.maintenance_turns SET until = clock_timestamp() + ${forMs}::int * interval '1 millisecond'
     WHERE job = ${job} AND replica = ${replica}`
  return kept === 1
}

/** Gives the turn back, with what came of it; null: nothing did. */
export async function endTurn(
  { reads }: Pick<Deps, 'reads'>,
  { job, replica }: Turn,
  report: string | null,
): Promise<void> {
  await reads.prisma.$executeRaw`
    UPDATE money.maintenance_turns
       SET until = clock_timestamp(),
           done_at = CASE WHEN ${report}::text IS NULL THEN done_at ELSE clock_timestamp() END,
           report = coalesce(${report}, report)
     WHERE job = ${job} AND replica = ${replica}`
}

/** What came of the last turn, regardless of who had it; null: no one has ended one yet. */
export async function lastTurn({ reads }: Pick<Deps, 'reads'>, job: string): Promise<DoneTurn | null> {
  const [row] = await reads.prisma.$queryRaw<{ ago_ms: number; report: string }[]>`
    SELECT (extract(epoch FROM clock_timestamp() - done_at) * 1000)::float8 AS ago_ms, report
      FROM money.maintenance_turns WHERE job = ${job} AND done_at IS NOT NULL`
  return row ? { agoMs: row.ago_ms, report: row.report } : null
}
