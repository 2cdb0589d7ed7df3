import type { RevenueReport } from '@gateway/api/console/platform-money'

const format = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** A month such as 2026-11 in words. */
export function monthText(month: string): string {
  return format.format(new Date(`${month}-01T00:00:00Z`))
}

/** The month this many months before another one. */
export function monthsBefore(month: string, months: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, number - 1 - months)).toISOString().slice(0, 7)
}

/** What all products brought in a month. Micro-USD. */
export function revenueOf({ data }: Pick<RevenueReport, 'data'>, month: string): number {
  return data.reduce((sum, row) => (row.month === month ? sum + row.chargedMicro : sum), 0)
}
