import type { KeyRecord, KeyWindow } from '@gateway/contracts/console/keys'
import { isoSeconds, resetsAt, windowStartMs } from '@gateway/money/spending-window'

/** A meter as it is stored: that of the window in which its lineage last called. Micro-USD. */
export interface Meter {
  windowStart: Date
  spent: bigint
  reserved: bigint
}

/**
 * What the window has that runs now, as an admission sees it (money §6): one that has begun since the meter was last moved is
 * untouched, and one that was left is never gone back to.
 */
export function keyWindow(limit: KeyRecord['limit'], meter: Meter | undefined, now: Date): KeyWindow | null {
  if (limit === null) return null
  const { micro, reset } = limit
  const startMs = windowStartMs(reset, now.getTime())
  const metered = meter && meter.windowStart.getTime() >= startMs ? meter : null
  const start = metered?.windowStart ?? new Date(startMs)
  const [spent, reserved] = [metered?.spent ?? 0n, metered?.reserved ?? 0n]
  return {
    spentMicro: Number(spent),
    reservedMicro: Number(reserved),
    remainingMicro: Number(BigInt(micro) - spent - reserved),
    startsAt: reset === 'lifetime' ? null : isoSeconds(start),
    resetsAt: resetsAt(reset, start.toISOString()),
  }
}
