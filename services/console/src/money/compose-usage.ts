import type { UsageReport } from '@gateway/api/console/money'
import type { UsageCell } from './usage-cells.ts'
import { sumOf, usageFigures, type UsageSums } from './usage-figures.ts'

/** The groups with the most, as GET …/usage has them. */
export type UsageOrder = 'spend' | 'calls' | 'tokens' | 'errors'

const valueOf: Record<UsageOrder, (sums: UsageSums) => bigint> = {
  spend: ({ charged }) => charged,
  calls: ({ calls }) => calls,
  tokens: ({ prompt, completion }) => prompt + completion,
  errors: ({ errors }) => errors,
}

/** Sorts groups, largest first; those with as much by calls, then by name. */
export function inOrder<Group extends UsageCell>(groups: readonly Group[], order: UsageOrder): Group[] {
  const value = valueOf[order]
  return groups.toSorted(
    (a, b) =>
      descending(value(a), value(b)) || descending(a.calls, b.calls) || (String(a.group) < String(b.group) ? -1 : 1),
  )
}

const descending = (a: bigint, b: bigint) => (a === b ? 0 : a > b ? -1 : 1)

/** What a report adds up. */
export interface UsageParts {
  /** By group and step. */
  cells: readonly UsageCell[]
  /** By step alone. */
  steps: readonly UsageCell[]
  /** By group alone. */
  groups: readonly UsageCell[]
  groupCount: number
  total: UsageSums
}

/** Adds up cells of all groups in every way that a report has. */
export function partsOfCells(cells: readonly UsageCell[]): UsageParts {
  const by = (field: 'step' | 'group') =>
    [...Map.groupBy(cells, (cell) => cell[field]).values()].map((some) => ({
      step: null,
      group: null,
      [field]: some[0]![field],
      ...sumOf(some),
    }))
  const groups = by('group')
  return { cells, steps: by('step'), groups, groupCount: groups.length, total: sumOf(cells) }
}

/**
 * The figures of a report.
 * @param timeOf start of a step; null without steps
 */
export function composeUsage(
  { cells, steps, groups, groupCount, total }: UsageParts,
  timeOf: ((step: number) => string) | null,
  options: { withLatency: boolean },
): Pick<UsageReport, 'data' | 'steps' | 'groups' | 'groupCount' | 'total'> {
  const figures = (sums: UsageSums) => usageFigures(sums, options)
  const time = ({ step }: UsageCell) => timeOf!(step!)
  return {
    data: cells.map((cell) => ({ ...(timeOf && { time: time(cell) }), group: cell.group, ...figures(cell) })),
    ...(timeOf && {
      steps: steps.map((cell) => ({ time: time(cell), ...figures(cell) })),
      groups: groups.map((cell) => ({ group: cell.group, ...figures(cell) })),
    }),
    groupCount,
    total: figures(total),
  }
}
