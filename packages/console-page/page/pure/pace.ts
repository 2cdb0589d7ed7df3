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
