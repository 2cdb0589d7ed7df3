import { parseArgs } from 'node:util'

export interface FuzzOptions {
  /** Number of requests. */
  requests: number
  /** The same seed makes the same choices; what the stack has created by then depends on its speed. */
  seed: number
  /** The run ends after this time, even with fewer requests. */
  seconds: number
}

const MOST_REQUESTS = 10_000_000
const MOST_SECONDS = 86_400
const MOST_SEED = 2 ** 32 - 1
const DEFAULTS = { requests: 20_000, seconds: 3_600 }

const usage = `npm run fuzz [-- options]
Starts a stack, sends it requests made from docs/openapi.json, valid and hostile ones, and checks each response and the books.

  --requests <n>  number of requests; ${DEFAULTS.requests} by default
  --seed <n>      repeats the choices of an earlier run, which prints its seed; random by default
  --seconds <n>   ends the run after this time; ${DEFAULTS.seconds} by default
  --help          prints this text

Exit codes: 0 no findings, 1 findings, 64 wrong usage, 130 interrupted.
`

/** Parses the command line. Returns the text to print instead if it asks for help or is invalid. */
export function readArguments(words: string[], newSeed: number): FuzzOptions | { usage: string; wrong: boolean } {
  const wrong = (what: string) => ({ usage: `${what}\n\n${usage}`, wrong: true })
  let read
  try {
    read = parseArgs({
      args: words,
      options: {
        requests: { type: 'string' },
        seed: { type: 'string' },
        seconds: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return wrong((error as Error).message)
  }
  const { values } = read
  if (values.help) return { usage, wrong: false }
  const requests = integer(values.requests, DEFAULTS.requests, 1, MOST_REQUESTS)
  const seed = integer(values.seed, newSeed, 0, MOST_SEED)
  const seconds = integer(values.seconds, DEFAULTS.seconds, 1, MOST_SECONDS)
  if (requests === null) return wrong(`--requests must be an integer from 1 to ${MOST_REQUESTS}.`)
  if (seed === null) return wrong(`--seed must be an integer from 0 to ${MOST_SEED}.`)
  if (seconds === null) return wrong(`--seconds must be an integer from 1 to ${MOST_SECONDS}.`)
  return { requests, seed, seconds }
}

function integer(text: string | undefined, otherwise: number, least: number, most: number): number | null {
  if (text === undefined) return otherwise
  const number = Number(text)
  return /^\d+$/.test(text) && number >= least && number <= most ? number : null
}
