import type { Deps } from '../deps.ts'

// A job that one replica does for all. A row holds the replica that has the turn, and until when by the clock of the
// database: an advisory lock would be lost behind a pooler that gives each transaction another session. A replica that
// dies loses its turn once that time is over.

export interface Turn {
  job: string
  /** The replica that asks. */
  replica: string
  /** How long it has the turn, unless `keepTurn` extends it. */
  forMs: number
  /** A turn that ended more recently than this is not taken again. */
  everyMs: number
}

/** Takes the turn. Returns whether it was free and due. */
export async function takeTurn({ reads }: Pick<Deps, 'reads'>, turn: Turn): Promise<boolean> {
  const taken = await reads.prisma.$executeRaw`
    INSERT INTO money.maintenance_turns AS t (job, replica, until)
    VALUES (${turn.job}, ${turn.replica}, clock_timestamp() + ${turn.forMs}::int * interval '1 millisecond')
    ON CONFLICT (job) DO UPDATE SET replica = excluded.replica, until = excluded.until
     WHERE t.until <= clock_timestamp()
       AND coalesce(t.done_at <= clock_timestamp() - ${turn.everyMs}::int * interval '1 millisecond', true)`
  return taken === 1
}

/** Extends the turn by `forMs`. Returns whether the replica still had it. */
export async function keepTurn({ reads }: Pick<Deps, 'reads'>, { job, replica, forMs }: Turn): Promise<boolean> {
  const kept = await reads.prisma.$executeRaw`
    UPDATE money.maintenance_turns SET until = clock_timestamp() + ${forMs}::int * interval '1 millisecond'
     WHERE job = ${job} AND replica = ${replica}`
  return kept === 1
}

/**
 * Gives the turn back with its result; null if there is none. One that is not done is due again at once.
 */
export async function endTurn(
  { reads }: Pick<Deps, 'reads'>,
  { job, replica }: Turn,
  report: string | null,
  isDone = report !== null,
): Promise<void> {
  await reads.prisma.$executeRaw`
    UPDATE money.maintenance_turns
       SET until = clock_timestamp(),
           done_at = CASE WHEN ${isDone}::boolean THEN clock_timestamp() ELSE done_at END,
           report = coalesce(${report}, report)
     WHERE job = ${job} AND replica = ${replica}`
}

/** Returns the result of the last turn, on any replica; null if there is none yet. */
export async function lastReport({ reads }: Pick<Deps, 'reads'>, job: string): Promise<string | null> {
  const [row] = await reads.prisma.$queryRaw<{ report: string | null }[]>`
    SELECT report FROM money.maintenance_turns WHERE job = ${job}`
  return row?.report ?? null
}

/** Returns how many seconds ago the last turn of each job was done, on any replica. */
export async function turnAges({ reads }: Pick<Deps, 'reads'>): Promise<Map<string, number>> {
  const rows = await reads.prisma.$queryRaw<{ job: string; age: number }[]>`
    SELECT job, extract(epoch FROM clock_timestamp() - done_at)::float8 AS age
      FROM money.maintenance_turns WHERE done_at IS NOT NULL`
  return new Map(rows.map(({ job, age }) => [job, age]))
}
