import type { CallTiming } from '@gateway/api/call-timing'

/** Columns of money.closing for the times of a call. */
export function timingColumns(timing: CallTiming | undefined): { firstTokenMs?: number | null; tries?: string } {
  return timing === undefined ? {} : { firstTokenMs: timing.firstTokenMs, tries: JSON.stringify(timing.tries) }
}
