import { useQuery } from '@tanstack/react-query'
import { reading } from '../api/queries.ts'
import { useScope } from '../api/session.ts'

const PATH = '/api/v2/tenants/{tenant}/projects/{project}/statement'
const SHOWN_DAYS = 30
const PACE_DAYS = 7

/** Statement of the current month. */
export function useMonth() {
  return useQuery(reading(PATH, { params: useScope() }))
}

export interface SpentDay {
  day: string
  chargedMicro: number
  calls: number
}

/** Charges of the last 30 UTC days, by day, and the total of the last 7. */
export function useSpending() {
  const now = new Date()
  const days = lastDays(SHOWN_DAYS, now)
  const asked = { params: useScope(), query: { from: days[0]!, to: dayOf(now, 1) } }
  const { data, error } = useQuery(reading(PATH, asked))
  const booked = new Map(data?.days.map((day) => [day.day, day]))
  const spent: SpentDay[] = days.map((day) => ({
    day,
    chargedMicro: booked.get(day)?.chargedMicro ?? 0,
    calls: booked.get(day)?.calls ?? 0,
  }))
  return {
    error,
    isThere: data !== undefined,
    days: spent,
    paceMicro: sum(spent.slice(-PACE_DAYS)),
    paceDays: PACE_DAYS,
  }
}

function sum(days: SpentDay[]): number {
  return days.reduce((micro, { chargedMicro }) => micro + chargedMicro, 0)
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

/** The last UTC days up to today, such as `2026-11-20`, oldest first. */
export function lastDays(howMany: number, now: Date): string[] {
  return Array.from({ length: howMany }, (_, n) => dayOf(now, n - howMany + 1))
}

/** UTC day this many days after a time. */
export function dayOf(now: Date, later = 0): string {
  return new Date(now.getTime() + later * DAY_MS).toISOString().slice(0, 10)
}
