import type { BenchFacts, BenchOptions } from './arguments.ts'
import type { Stops } from './stack/stops.ts'

export interface BenchDeps {
  options: BenchOptions
  /** Takes what has to be stopped when the bench is over, however it ends. */
  stops: Stops
  log: (line: string) => void
}

/** Takes the measurements and answers its section of the results as Markdown. Throws when the books don't add up. */
export type Bench = BenchFacts & { run: (deps: BenchDeps) => Promise<string> }
