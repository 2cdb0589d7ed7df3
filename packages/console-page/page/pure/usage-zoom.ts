import type { Step } from './usage-stacks.ts'

/** A part of the time of a report; ISO 8601, UTC. */
export interface Zoom {
  from: string
  to: string
}

/** From the beginning of one step to the end of another, whichever is the earlier. */
export function zoomOf(steps: Step[], end: string, one: number, other: number): Zoom {
  const [first, last] = [Math.min(one, other), Math.max(one, other)]
  const utc = (time: string) => new Date(time).toISOString()
  return { from: utc(steps[first]!.at), to: utc(steps[last + 1]?.at ?? end) }
}

/** The step at a place of the chart, from 0 at its left edge to 1 at its right. */
export function stepAt(share: number, count: number): number {
  return Math.max(0, Math.min(count - 1, Math.floor(share * count)))
}
