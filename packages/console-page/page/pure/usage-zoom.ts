import type { Step } from './usage-stacks.ts'

/** Time range within a report; ISO 8601, UTC. */
export interface Zoom {
  from: string
  to: string
}

/** Range from the start of the earlier step to the end of the later one. */
export function zoomOf(steps: Step[], end: string, one: number, other: number): Zoom {
  const [first, last] = [Math.min(one, other), Math.max(one, other)]
  const utc = (time: string) => new Date(time).toISOString()
  return { from: utc(steps[first]!.at), to: utc(steps[last + 1]?.at ?? end) }
}

/** Step at a horizontal position, from 0 at the left edge of the chart to 1 at the right. */
export function stepAt(share: number, count: number): number {
  return Math.max(0, Math.min(count - 1, Math.floor(share * count)))
}
