import { callFunction } from '@gateway/database/call-function'
import { classify, ranOutOfTime } from '../admissions/classify-error.ts'
import type { Deps } from '../deps.ts'

// Adds up usage by the hour from the journal (money §9.2; U1 to U4 of money.roll_up_usage). One query finds the wallets
// that have moved; the others cost nothing. Each part is one short transaction. A part that exceeds the time limit is
// repeated by project, and for one project with fewer entries. A project whose usage cannot be written keeps its position,
// and the others continue without it.

interface RollUpDeps extends Pick<Deps, 'reads'> {
  log: { warn(facts: { err: unknown; project: string }, message: string): void }
}

interface Part {
  /** Limits of one transaction. */
  maxProjects: number
  maxEntries: number
}

const PART: Part = { maxProjects: 200, maxEntries: 10_000 }
const MAX_PROJECTS = 10_000
/** A part of this size that exceeds the time limit is not repeated with fewer entries. */
const LEAST_ENTRIES = 100

/** Rolls up everything that has moved. Returns no count: it always has work, which is not worth logging. */
export async function rollUpUsage({ reads, log }: RollUpDeps, part: Part = PART): Promise<Record<string, number>> {
  const moved = await reads.prisma.$queryRaw<{ project: string }[]>`
    SELECT w.project FROM money.wallets w LEFT JOIN money.usage_positions p ON p.project = w.project
     WHERE w.journal_seq > coalesce(p.seq, 0) ORDER BY p.at NULLS FIRST LIMIT ${MAX_PROJECTS}::int`
  const projects = moved.map(({ project }) => project)
  for (let at = 0; at < projects.length; at += part.maxProjects) {
    const some = projects.slice(at, at + part.maxProjects)
    if (!(await rollUp({ reads, log }, some, part.maxEntries))) break // another replica is rolling up
  }
  return {}
}

async function rollUp(deps: RollUpDeps, projects: string[], maxEntries: number): Promise<boolean> {
  try {
    for (;;) {
      const args = { projects, max_entries: maxEntries }
      const { entries } = await callFunction(deps.reads.sql, 'money.roll_up_usage', args)
      if (entries === null) return false
      if (entries < maxEntries) return true
    }
  } catch (error) {
    const isSlow = ranOutOfTime(error)
    if (!isSlow && classify(error) !== 'final') throw error
    if (projects.length === 1) {
      if (isSlow && maxEntries > LEAST_ENTRIES)
        return rollUp(deps, projects, Math.max(LEAST_ENTRIES, Math.ceil(maxEntries / 10)))
      deps.log.warn({ err: error, project: projects[0]! }, 'usage roll-up of a project failed')
      return true
    }
    for (const project of projects) if (!(await rollUp(deps, [project], maxEntries))) return false
    return true
  }
}
