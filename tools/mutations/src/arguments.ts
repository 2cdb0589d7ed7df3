import { parseArgs } from 'node:util'

export interface MutateOptions {
  /** Ids of mutations; null for all. */
  only: string[] | null
  /** The tree to mutate; null for HEAD. */
  at: string | null
  list: boolean
}

const usage = `npm run mutations [-- options]
Breaks one rule of the code after another in a throw-away copy, and shows whether the tests notice it.

  --only <id,id>   only these mutations
  --at <commit>    mutates the tree of this commit; HEAD by default. Uncommitted changes are ignored
  --list           prints the mutations and checks that each still fits the code; runs no tests
`

/** Parses the command line. Returns the text to print instead if it asks for help or is invalid. */
export function readArguments(
  words: string[],
  known: readonly string[],
): MutateOptions | { usage: string; wrong: boolean } {
  const wrong = (what: string) => ({ usage: `${what}\n\n${usage}`, wrong: true })
  try {
    const { values } = parseArgs({
      args: words,
      options: {
        only: { type: 'string' },
        at: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    if (values.help) return { usage, wrong: false }
    const only = values.only?.split(',') ?? null
    const unknown = only?.find((id) => !known.includes(id))
    if (unknown !== undefined) return wrong(`Unknown mutation ${unknown || '(empty)'}. --list prints them all.`)
    return { only, at: values.at ?? null, list: values.list }
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error))
  }
}
