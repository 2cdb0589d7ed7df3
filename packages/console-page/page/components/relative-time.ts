import { useSyncExternalStore } from 'react'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NOW_MS = 45 * SECOND_MS
const LONGEST_MS = 30 * DAY_MS

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** A time seen from now, such as "3 minutes ago"; null if it is more than 30 days away. */
export function relativeTime(atMs: number, nowMs: number): string | null {
  const ms = atMs - nowMs
  const far = Math.abs(ms)
  if (far >= LONGEST_MS) return null
  if (far < NOW_MS) return ms > 0 ? 'in a moment' : 'just now'
  if (far < HOUR_MS - MINUTE_MS / 2) return format.format(Math.round(ms / MINUTE_MS), 'minute')
  if (far < DAY_MS - HOUR_MS / 2) return format.format(Math.round(ms / HOUR_MS), 'hour')
  return format.format(Math.round(ms / DAY_MS), 'day')
}

// One timer for all times on the page.

let minutes = 0
let timer: ReturnType<typeof setInterval> | undefined
const readers = new Set<() => void>()

/** Renders the caller again each minute. */
export function useEachMinute(): void {
  useSyncExternalStore(subscribe, () => minutes)
}

function subscribe(read: () => void): () => void {
  readers.add(read)
  timer ??= setInterval(() => {
    minutes += 1
    for (const each of readers) each()
  }, MINUTE_MS)
  return () => {
    readers.delete(read)
    if (readers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
