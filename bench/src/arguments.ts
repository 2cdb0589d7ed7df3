import { parseArgs } from 'node:util'

export interface BenchOptions {
  /** Rounds per variant; the report has their medians. */
  rounds: number
  /** Duration of a measurement in a round. */
  roundMs: number
  /** Whether to rewrite the bench's section in bench/RESULTS.md. */
  keep: boolean
  /** The service to profile by function; null for none. */
  profile: string | null
  /** Calls in the books, for a bench that lets its size be chosen; null for another one. */
  calls: number | null
  /** The folder of another checkout, for a bench that compares with one; null for another one. */
  before: string | null
}

export interface BenchFacts {
  title: string
  /** Services that `--profile` accepts. */
  profiles: string[]
  /** Defaults for the command line. */
  rounds: number
  seconds: number
  /** Only for a bench that `--calls` makes smaller. */
  calls?: number
  /** Whether it compares with another checkout, which `--before` names. */
  comparesCheckouts?: true
}

const MOST_ROUNDS = 50
const MOST_SECONDS = 60
const LEAST_CALLS = 1_000

/** Parses the command line of a bench. Returns the text to print instead if it asks for help or is invalid. */
export function readArguments(
  words: string[],
  benches: Record<string, BenchFacts>,
): { name: string; options: BenchOptions } | { usage: string; wrong: boolean } {
  const usage = usageOf(benches)
  const wrong = (what: string) => ({ usage: `${what}\n\n${usage}`, wrong: true })
  let read
  try {
    read = parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        rounds: { type: 'string' },
        seconds: { type: 'string' },
        keep: { type: 'boolean', default: false },
        profile: { type: 'string' },
        calls: { type: 'string' },
        before: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error))
  }
  const { values, positionals } = read
  if (values.help) return { usage, wrong: false }
  const [name, ...more] = positionals
  if (name === undefined) return wrong('No bench is named.')
  const facts = Object.hasOwn(benches, name) ? benches[name] : undefined
  if (!facts) return wrong(`There is no bench called ${name}.`)
  if (more.length > 0) return wrong(`Name only one bench, without ${more.join(' ')}.`)

  const rounds = numberIn(values.rounds, facts.rounds, 1, MOST_ROUNDS)
  const seconds = numberIn(values.seconds, facts.seconds, 0.2, MOST_SECONDS)
  if (rounds === null || !Number.isInteger(rounds))
    return wrong(`--rounds must be a whole number from 1 to ${MOST_ROUNDS}.`)
  if (seconds === null) return wrong(`--seconds must be a number from 0.2 to ${MOST_SECONDS}.`)
  const profile = values.profile ?? null
  if (profile !== null && !facts.profiles.includes(profile))
    return wrong(`${name} can profile ${facts.profiles.join(' or ') || 'nothing'}, not ${profile}.`)
  const most = facts.calls
  if (most === undefined && values.calls !== undefined) return wrong(`${name} has no number of calls to choose.`)
  const calls = most === undefined ? null : numberIn(values.calls, most, LEAST_CALLS, most)
  if (most !== undefined && (calls === null || !Number.isInteger(calls)))
    return wrong(`--calls must be a whole number from ${LEAST_CALLS} to ${most}.`)
  if ((values.before === undefined) === (facts.comparesCheckouts === true))
    return wrong(
      `${name} ${facts.comparesCheckouts ? 'needs an' : 'has no '}other checkout to compare with: --before <folder>.`,
    )
  const before = values.before ?? null
  return { name, options: { rounds, roundMs: seconds * 1000, keep: values.keep, profile, calls, before } }
}

function numberIn(text: string | undefined, otherwise: number, least: number, most: number): number | null {
  const number = text === undefined ? otherwise : Number(text)
  return text !== '' && number >= least && number <= most ? number : null
}

function usageOf(benches: Record<string, BenchFacts>): string {
  const width = Math.max(...Object.keys(benches).map(({ length }) => length))
  const lines = Object.entries(benches).map(([name, { title, rounds, seconds, profiles, calls }]) => {
    const profiled = profiles.length === 0 ? '' : `; profiles ${profiles.join(', ')}`
    const sized = calls === undefined ? '' : `; ${calls.toLocaleString('en-US')} calls`
    const plainly = `(${rounds} ${rounds === 1 ? 'round' : 'rounds'} of ${seconds} s a variant${profiled}${sized})`
    return `  ${name.padEnd(width)}  ${title}\n${' '.repeat(width + 4)}${plainly}`
  })
  return `npm run bench <name> [-- options]
${lines.join('\n')}

  --rounds <n>         number of rounds; each round measures every variant once
  --seconds <n>        duration of one measurement
  --keep               rewrite the section of this bench in bench/RESULTS.md
  --profile <service>  also report where that service spends its time, by function
  --before <folder>    the checkout to compare with, with its dependencies installed; for benches that compare
  --calls <n>          fewer calls in the books, for a quick try; for benches that have a number of calls
`
}
