import type { ConsoleDeps } from '../deps.ts'
import type { LatencyCell } from './latency-cells.ts'
import { sumOfLatencies } from './latency-figures.ts'
import type { UsageRow } from './usage-rows.ts'

// Usage by user is usage by key, added up by who created each key. Calls without a key stay together: a user started
// their execution in the console.

type UserOf = (key: string | null) => string | null

/** Returns who created each key of a project. */
export async function readKeyUsers({ prisma }: Pick<ConsoleDeps, 'prisma'>, project: string): Promise<UserOf> {
  const keys = await prisma.key.findMany({ where: { project }, select: { id: true, createdBy: true } })
  const users = new Map(keys.map(({ id, createdBy }) => [id, createdBy]))
  return (key) => (key === null ? null : (users.get(key) ?? null))
}

/** Adds up the rows of the keys of each user. */
export function usageByUser(rows: readonly UsageRow[], userOf: UserOf): UsageRow[] {
  return byUser(rows, userOf).map(([first, some]) => {
    const sum = (field: 'calls' | 'prompt' | 'completion' | 'charged') =>
      some.reduce((total, row) => total + row[field], 0n)
    return {
      ...first,
      calls: sum('calls'),
      prompt: sum('prompt'),
      completion: sum('completion'),
      charged: sum('charged'),
    }
  })
}

/** Adds up the cells of the keys of each user. */
export function latencyByUser(cells: readonly LatencyCell[], userOf: UserOf): LatencyCell[] {
  return byUser(cells, userOf).map(([first, some]) => ({ ...first, ...sumOfLatencies(some) }))
}

/** The rows of each step and user, each with the step and user themselves. */
function byUser<Row extends Pick<UsageRow, 'step' | 'group'>>(rows: readonly Row[], userOf: UserOf): [Row, Row[]][] {
  const users = rows.map((row) => ({ ...row, group: userOf(row.group) }))
  return [...Map.groupBy(users, ({ step, group }) => JSON.stringify([step, group])).values()].map((some) => [
    some[0]!,
    some,
  ])
}
