import type { UsageReport } from '@gateway/api/console/money'

/** Row of a report by step. */
export type UsageRow = UsageReport['data'][number]

/** Totals of a group over the whole report. */
export type GroupSum = Pick<UsageRow, 'group' | 'calls' | 'promptTokens' | 'completionTokens' | 'chargedMicro'>

/** One column of the chart. */
export interface Step {
  /** Start, ISO 8601. */
  at: string
  /** Micro-USD of each shown group, then of all other groups combined. */
  parts: number[]
  totalMicro: number
}

/** Number of groups with a separate part in each column. */
export const SHOWN_GROUPS = 6
const STEP_MS = { hour: 3_600_000, day: 86_400_000 }

/** Totals by group, most expensive first. */
export function groupSums(rows: readonly UsageRow[]): GroupSum[] {
  const sums = new Map<string | null, GroupSum>()
  for (const { group, calls, promptTokens, completionTokens, chargedMicro } of rows) {
    const sum = sums.get(group) ?? { group, calls: 0, promptTokens: 0, completionTokens: 0, chargedMicro: 0 }
    sums.set(group, {
      group,
      calls: sum.calls + calls,
      promptTokens: sum.promptTokens + promptTokens,
      completionTokens: sum.completionTokens + completionTokens,
      chargedMicro: sum.chargedMicro + chargedMicro,
    })
  }
  return [...sums.values()].toSorted((a, b) => b.chargedMicro - a.chargedMicro || b.calls - a.calls)
}

/** Every step of the report, including those without calls. Local days have 23 to 25 hours. */
export function usageSteps({ from, to, step = 'day', data }: UsageReport, groups: readonly GroupSum[]): Step[] {
  const begin = Date.parse(from)
  const indexOf = (time: string) => Math.round((Date.parse(time) - begin) / STEP_MS[step])
  const places = new Map(groups.map(({ group }, n) => [group, Math.min(n, SHOWN_GROUPS)]))
  const parts = Math.min(groups.length, SHOWN_GROUPS + 1)
  const steps = Array.from({ length: indexOf(to) }, (_, n): Step => {
    const at = new Date(begin + n * STEP_MS[step]).toISOString()
    return { at, parts: Array.from({ length: parts }, () => 0), totalMicro: 0 }
  })
  for (const { time, group, chargedMicro } of data) {
    const column = steps[time === undefined ? -1 : indexOf(time)]
    if (column === undefined) continue
    column.at = time!
    column.parts[places.get(group)!]! += chargedMicro
    column.totalMicro += chargedMicro
  }
  return steps
}

/** Time range within a report; ISO 8601, UTC. */
export interface Zoom {
  from: string
  to: string
}

/** Range from the start of the earlier step to the end of the later one. */
export function zoomOf(steps: Step[], end: string, one: number, other: number): Zoom {
  const [first, last] = [Math.min(one, other), Math.max(one, other)]
  const utc = (time: string) => new Date(time).toISOString()
  return { from: utc(steps[first]!.at), to: utc(steps[last + 1]?.at ?? end) }
}

/** Step at a horizontal position, from 0 at the left edge of the chart to 1 at the right. */
export function stepAt(share: number, count: number): number {
  return Math.max(0, Math.min(count - 1, Math.floor(share * count)))
}
