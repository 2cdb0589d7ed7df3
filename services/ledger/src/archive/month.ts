/** A month of UTC, such as `2026-08`. Months are compared as text. */
export type Month = string

export function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text)
}

export function monthOf(moment: Date): Month {
  return moment.toISOString().slice(0, 7)
}

/** Its first moment. */
export function startOf(month: Month): Date {
  return new Date(`${month}-01T00:00:00Z`)
}

/** The first moment of the month after it. */
export function endOf(month: Month): Date {
  const end = startOf(month)
  end.setUTCMonth(end.getUTCMonth() + 1)
  return end
}

export function nextMonth(month: Month): Month {
  return monthOf(endOf(month))
}

export function monthBefore(month: Month): Month {
  return monthOf(new Date(startOf(month).getTime() - 1))
}
