/** Which month is shown, as the address has it; left out: this one. */
export interface StatementView {
  month?: string
}

export function statementView({ month }: Record<string, unknown>): StatementView {
  return typeof month === 'string' && /^(19[7-9]|[2-8]\d{2}|99[0-6])\d-(0[1-9]|1[0-2])$/.test(month) ? { month } : {}
}

/** The month of UTC that is so many months from another one, such as `2026-11`. */
export function monthFrom(month: string, by: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + by)).toISOString().slice(0, 7)
}

const words = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** As people say it, such as `November 2026`. */
export const monthWords = (month: string) => words.format(new Date(`${month}-01T00:00:00Z`))
