import type { Figures } from './figures.ts'

export interface Variant {
  name: string
  /** Runs before the first round: code is compiled, statements are prepared, connections are open. */
  warmUp?: () => Promise<unknown>
  /** Takes one measurement. */
  measure: () => Promise<Figures>
  /** Clears up after it, outside the measured time. */
  after?: () => Promise<void>
}

interface Turns {
  rounds: number
  variants: Variant[]
  log: (line: string) => void
}

/**
 * Warms every variant up, and takes one measurement of every variant a round, in turns, so that what else the machine does falls on all of them alike. Every
 * second round goes backwards: tables grow meanwhile, and none is always measured on the larger ones.
 * Answers the figures of each, round by round.
 */
export async function inTurns({ rounds, variants, log }: Turns): Promise<Map<string, Figures[]>> {
  const measured = new Map<string, Figures[]>(variants.map(({ name }) => [name, []]))
  for (const { warmUp } of variants) await warmUp?.()
  for (let round = 1; round <= rounds; round++) {
    log(`round ${round} of ${rounds}`)
    for (const { name, measure, after } of round % 2 === 1 ? variants : variants.toReversed()) {
      const figures = await measure()
      measured.get(name)!.push(figures)
      log(`  ${name.padEnd(44)} ${figures.perSecond.toFixed(0).padStart(7)}/s  p50 ${figures.p50Ms.toFixed(2)} ms`)
      await after?.()
    }
  }
  return measured
}
