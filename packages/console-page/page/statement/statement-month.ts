/** Month in the URL; the current month if omitted. */
export interface StatementView {
  month?: string
}

export function statementView({ month }: Record<string, unknown>): StatementView {
  return typeof month === 'string' && /^(19[7-9]|[2-8]\d{2}|99[0-6])\d-(0[1-9]|1[0-2])$/.test(month) ? { month } : {}
}

/** UTC month at an offset from another month, such as `2026-11`. */
export function monthFrom(month: string, by: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + by)).toISOString().slice(0, 7)
}

const words = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Localized month, such as `November 2026`. */
export const monthLabels = (month: string) => words.format(new Date(`${month}-01T00:00:00Z`))
