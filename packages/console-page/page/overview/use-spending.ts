import { useQuery } from '@tanstack/react-query'
import { reading } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import { several } from '../components/usd.ts'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/statement'
const PACE_DAYS = 7

/** Statement of the current month. */
export function useMonth() {
  return useQuery(reading(PATH, { params: useScope() }))
}

/** Charges of the last 7 UTC days; undefined until they are read. */
export function useSpending() {
  const now = new Date()
  const asked = { params: useScope(), query: { from: dayOf(now, 1 - PACE_DAYS), to: dayOf(now, 1) } }
  const { data, error } = useQuery(reading(PATH, asked))
  const paceMicro = data?.days.reduce((micro, { chargedMicro }) => micro + chargedMicro, 0)
  return { paceMicro, paceDays: PACE_DAYS, error }
}

const DAY_MS = 86_400_000

/** Whole days the balance lasts at the average spending of the given days, or null if nothing was spent. */
export function daysLeft(availableMicro: number, spentMicro: number, days: number): number | null {
  return spentMicro <= 0 ? null : Math.floor((availableMicro * days) / spentMicro)
}

/** Whether the end is in the future and at most this many days away. */
export function endsWithin(days: number, endsAt: string | null, now: Date): boolean {
  if (endsAt === null) return false
  const left = Date.parse(endsAt) - now.getTime()
  return left > 0 && left <= days * DAY_MS
}

/** UTC day this many days after a time. */
export function dayOf(now: Date, later = 0): string {
  return new Date(now.getTime() + later * DAY_MS).toISOString().slice(0, 10)
}

const LONGEST_DAYS = 365

/** How long a balance lasts, in whole days; null: nothing was spent recently. */
export function runwayText(days: number | null): string {
  if (days === null) return 'No recent spend'
  return days > LONGEST_DAYS ? '> 1 year' : several(days, 'day')
}
