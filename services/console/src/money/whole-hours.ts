const HOUR_MS = 3_600_000

/**
 * From the beginning of the hour that `from` lies in to the end of the hour that `to` lies in.
 * @param usualMs how long it is where one of them is not given
 */
export function wholeHours(
  asked: { from?: Date | undefined; to?: Date | undefined },
  now: Date,
  usualMs: number,
): { from: Date; to: Date } {
  const to = asked.to ?? (asked.from ? new Date(asked.from.getTime() + usualMs) : now)
  const from = asked.from ?? new Date(to.getTime() - usualMs)
  return {
    from: new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS),
    to: new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS),
  }
}
