import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { openTokenCounter, type TokenCounter } from '@gateway/tokens/token-counter'
import type { BenchDeps } from '../bench.ts'
import { closedLoop } from '../load/closed-loop.ts'
import { figuresOf, medianFigures, type Figures } from '../load/figures.ts'
import { inTurns, type Variant } from '../load/rounds.ts'
import { describeRun } from '../report/machine.ts'
import { cells, ms, table, times } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'
import { adversarial, prose } from './texts.ts'

// Time until the tokens of a prompt are known: for new prompts, for prompts whose start was counted before, for
// adversarial prompts, and for a quiet project next to a busy one. Compared with the library whose tables are used, in
// this thread.

const CLIENTS = 64
const PROJECTS = 8
const PROMPT = 12 * 1024
const LARGEST = 125 * 1024

export async function counting({ options, stops, log }: BenchDeps): Promise<string> {
  const logger = { warn: (facts: object, message: string) => log(`${message}: ${JSON.stringify(facts)}`) }
  const counter = openTokenCounter({ log: logger })
  stops.add(() => counter.close())
  const count = countWith(counter)
  await count('prj_first', prose(0, PROMPT)) // loads the tables

  let seed = 1
  const known = prose(seed++, PROMPT)
  const measured = (clients: number, call: (n: number) => Promise<unknown>) => async () =>
    figuresOf(await closedLoop({ clients, lastsMs: options.roundMs, call, now: () => performance.now() }))
  const variants: Variant[] = [
    { name: 'the library, 12 KB, new', measure: measured(1, async () => countTokens(prose(seed++, PROMPT))) },
    { name: '12 KB, new, 1 client', measure: measured(1, () => count('prj_0', prose(seed++, PROMPT))) },
    {
      name: `12 KB, new, ${CLIENTS} clients`,
      measure: measured(CLIENTS, (n) => count(project(n), prose(seed++, PROMPT))),
    },
    {
      name: '12 KB, 1 KB of it new, 1 client',
      measure: measured(1, () => count('prj_0', known + prose(seed++, 1_024))),
    },
    { name: '12 KB, known, 1 client', measure: measured(1, () => count('prj_0', known)) },
    { name: '125 KB, new, 1 client', measure: measured(1, () => count('prj_0', prose(seed++, LARGEST))) },
    ...Object.entries(adversarial).map(([name, make]) => ({
      name: `125 KB, ${name}, 1 client`,
      measure: measured(1, () => count('prj_0', make(seed++, LARGEST))),
    })),
    { name: ALONGSIDE, measure: () => alongsideBurst(counter, () => seed++, options.roundMs) },
  ]
  const rounds = await inTurns({ rounds: options.rounds, variants, log })
  const figures = new Map([...rounds].map(([name, all]) => [name, medianFigures(all)]))
  return [await describeRun(new Date()), report(figures), targets(figures)].join('\n\n')
}

const ALONGSIDE = `12 KB, new, alongside ${CLIENTS} × 125 KB of another project`

function project(n: number): string {
  return `prj_${n % PROJECTS}`
}

function countWith(counter: TokenCounter) {
  return async (of: string, text: string): Promise<number> => {
    const tokens = await counter.countAtMost({ project: of, texts: [text], family: 'o200k_base' })
    if (tokens === null) throw new Error('A prompt was not counted.')
    return tokens
  }
}

/** Prompts of a quiet project, in sequence, while another one has as many of the slowest as it may. */
async function alongsideBurst(counter: TokenCounter, seed: () => number, roundMs: number): Promise<Figures> {
  const count = countWith(counter)
  const slow = adversarial['one word of any letters']!
  let over = false
  const burst = Array.from({ length: CLIENTS }, async () => {
    while (!over)
      await counter.countAtMost({ project: 'prj_busy', texts: [slow(seed(), LARGEST)], family: 'o200k_base' })
  })
  const sample = await closedLoop({
    clients: 1,
    lastsMs: roundMs,
    call: () => count('prj_quiet', prose(seed(), PROMPT)),
    now: () => performance.now(),
  })
  over = true
  await Promise.all(burst)
  return figuresOf(sample)
}

function report(figures: Map<string, Figures>): string {
  return table(
    ['tokens of a prompt, o200k_base', '/s', 'p50', 'p99'],
    [...figures].map(([name, one]) => [name, ...cells(one)]),
  )
}

function targets(figures: Map<string, Figures>): string {
  const of = (name: string) => figures.get(name)!
  return formatTargets([
    {
      what: `p99 of 12 KB, new, ${CLIENTS} clients`,
      wanted: 500,
      found: of(`12 KB, new, ${CLIENTS} clients`).p99Ms,
      better: 'less',
      say: ms,
    },
    {
      what: 'new to known, p50',
      wanted: 3,
      found: of('12 KB, new, 1 client').p50Ms / of('12 KB, known, 1 client').p50Ms,
      better: 'more',
      say: times,
    },
    { what: `p99 of ${ALONGSIDE}`, wanted: 1_000, found: of(ALONGSIDE).p99Ms, better: 'less', say: ms },
  ])
}
