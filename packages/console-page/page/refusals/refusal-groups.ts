import type { LatestRefusals, RefusalCounts } from '@gateway/api/console/refusals'

export type LatestRefusal = LatestRefusals['data'][number]

/** What was refused alike: with one code, or to one key. */
export interface RefusalGroup {
  group: string
  count: number
  /** The newest of it; to the hour where it is not among the latest hundred. */
  lastAt: string
  isToTheHour: boolean
}

/** The counts of all hours together, most first. */
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
