const DAY_MS = 86_400_000

/** How many whole days what is available lasts if as much is spent each day as in these days. null: nothing was spent. */
export function daysLeft(availableMicro: number, spentMicro: number, days: number): number | null {
  return spentMicro <= 0 ? null : Math.floor((availableMicro * days) / spentMicro)
}

/** Whether something ends within so many days from now, and has not ended. */
export function endsWithin(days: number, endsAt: string | null, now: Date): boolean {
  if (endsAt === null) return false
  const left = Date.parse(endsAt) - now.getTime()
  return left > 0 && left <= days * DAY_MS
}

/** The last days of UTC up to today, as `2026-11-20`, oldest first. */
export function lastDays(howMany: number, now: Date): string[] {
  return Array.from({ length: howMany }, (_, n) => dayOf(now, n - howMany + 1))
}

/** The day of UTC so many days after this moment. */
export function dayOf(now: Date, later = 0): string {
  return new Date(now.getTime() + later * DAY_MS).toISOString().slice(0, 10)
}
