import { useQuery } from '@tanstack/react-query'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { dayOf, lastDays } from '../pure/pace.ts'

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
