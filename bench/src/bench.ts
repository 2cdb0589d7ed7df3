import type { BenchFacts, BenchOptions } from './arguments.ts'
import type { Stops } from './stack/stops.ts'

export interface BenchDeps {
  options: BenchOptions
  /** Collects what has to be stopped when the bench ends, for any reason. */
  stops: Stops
  log: (line: string) => void
}

/**
 * Takes the measurements and returns the bench's section of the results as Markdown. Throws if the ledger does not
 * verify.
 */
export type Bench = BenchFacts & { run: (deps: BenchDeps) => Promise<string> }
