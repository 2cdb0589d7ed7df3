import type { Figures } from './figures.ts'

export interface Variant {
  name: string
  /** Runs before the first round, to compile code, prepare statements and open connections. */
  warmUp?: () => Promise<unknown>
  /** Takes one measurement. */
  measure: () => Promise<Figures>
  /** Cleans up, outside the measured time. */
  after?: () => Promise<void>
}

interface Turns {
  rounds: number
  variants: Variant[]
  log: (line: string) => void
}

/**
 * Warms every variant up, then measures every variant once per round, in turns, so that other load on the machine
 * affects all alike. Every second round runs in reverse order: tables grow meanwhile, and no variant should always meet
 * the larger ones. Returns the figures of each, by round.
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
