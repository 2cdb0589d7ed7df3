import { HOUR_MS } from './time-zone.ts'

interface Period {
  from: Date
  to: Date
}

/**
 * The time that is asked for.
 * @param usualMs how long it is where one of its ends is not given
 */
export function periodOf(
  asked: { from?: Date | undefined; to?: Date | undefined },
  now: Date,
  usualMs: number,
): Period {
  const to = asked.to ?? (asked.from ? new Date(asked.from.getTime() + usualMs) : now)
  return { from: asked.from ?? new Date(to.getTime() - usualMs), to }
}

/** From the beginning of the hour that `from` lies in to the end of the hour that `to` lies in. */
export function wholeHours({ from, to }: Period): Period {
  return {
    from: new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS),
    to: new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS),
  }
}
