import type { Sample } from './closed-loop.ts'

/** Reported figures of a variant: medians over the rounds. */
export interface Figures {
  perSecond: number
  p50Ms: number
  p99Ms: number
}

/** Of one round. */
export function figuresOf({ calls, tookMs, latenciesMs }: Sample): Figures {
  return {
    perSecond: (calls * 1000) / tookMs,
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
  }
}

/** The median of each figure over the rounds. */
export function medianFigures(rounds: Figures[]): Figures {
  return {
    perSecond: median(rounds.map((round) => round.perSecond)),
    p50Ms: median(rounds.map((round) => round.p50Ms)),
    p99Ms: median(rounds.map((round) => round.p99Ms)),
  }
}

/** The median over the rounds of one variant's throughput divided by another's in the same round. */
export function ratio(of: Figures[], to: Figures[]): number {
  return median(of.map((round, n) => round.perSecond / to[n]!.perSecond))
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length === 0) return NaN
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The value that `percent` of them don't exceed (nearest rank). NaN for an empty array. */
export function percentile(ascending: Float64Array, percent: number): number {
  return ascending[Math.max(0, Math.ceil((percent / 100) * ascending.length) - 1)] ?? NaN
}
