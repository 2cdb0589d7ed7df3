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

/** Counts of groups without their hours, highest first. */
export function refusalGroups({ by, data }: RefusalCounts, latest: LatestRefusal[]): RefusalGroup[] {
  const groups = data.map(({ group, count, hour }): RefusalGroup => {
    const newest = latest.find((each) => each[by] === group)
    return { group, count, lastAt: newest?.at ?? hour, isToTheHour: newest === undefined }
  })
  return groups.toSorted((one, other) => other.count - one.count || (one.group < other.group ? -1 : 1))
}
