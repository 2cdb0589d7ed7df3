import type { LatestRefusals, RefusalCounts } from '@gateway/api/console/refusals'

export type LatestRefusal = LatestRefusals['data'][number]

/** Errors with the same code, or of the same key. */
export interface RefusalGroup {
  group: string
  count: number
  /** Time of the latest error, or the start of its hour if it isn't among the latest 100. */
  lastAt: string
  isToTheHour: boolean
}

/** Counts summed over all hours, highest first. */
export function refusalGroups({ by, data }: RefusalCounts, latest: LatestRefusal[]): RefusalGroup[] {
  const groups = [...Map.groupBy(data, ({ group }) => group)].map(([group, hours]): RefusalGroup => {
    const newest = latest.find((each) => each[by] === group)
    return {
      group,
      count: hours.reduce((sum, { count }) => sum + count, 0),
      lastAt: newest?.at ?? hours.at(-1)!.hour,
      isToTheHour: newest === undefined,
    }
  })
  return groups.toSorted((one, other) => other.count - one.count || (one.group < other.group ? -1 : 1))
}
