import { several } from './usd.ts'

const LONGEST_DAYS = 365

/** How long a balance lasts, in whole days; null: nothing was spent recently. */
export function runwayText(days: number | null): string {
  if (days === null) return 'No recent spend'
  return days > LONGEST_DAYS ? '> 1 year' : several(days, 'day')
}
