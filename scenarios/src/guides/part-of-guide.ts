import type { DocBlock } from './doc-blocks.ts'

// The kind of a guide block follows from its fence:
//   ```sh                         commands, run in the guide's shell
//   ```sh variables               values that readers fill in; the test sets them
//   ```js first-call.mjs          a file, which a later command must name
//   ```json                       output of the commands above (also ndjson, csv and text); … matches anything
//   ```sh not executed: <reason>  with or without a file name; the syntax is checked if a checker exists

export type GuidePart =
  | { kind: 'commands' | 'variables' }
  | { kind: 'file'; name: string }
  | { kind: 'output'; form: OutputForm }
  | { kind: 'unexecuted'; reason: string }

export type OutputForm = (typeof outputForms)[number]

const outputForms = ['json', 'ndjson', 'csv', 'text'] as const

/** @throws Error for an unsupported block */
export function partOfGuide({ language, note }: DocBlock): GuidePart {
  const [, name, reason] = /^([\w-]+(?:\.[\w-]+)+)?\s*(?:not executed: (.{20,}))?$/.exec(note) ?? []
  if (reason !== undefined) return { kind: 'unexecuted', reason }
  if (name !== undefined) return { kind: 'file', name }
  if (language === 'sh' && note === 'variables') return { kind: 'variables' }
  if (language === 'sh' && note === '') return { kind: 'commands' }
  const form = outputForms.find((each) => each === language)
  if (form !== undefined && note === '') return { kind: 'output', form }
  throw new Error(`Unsupported block "${language} ${note}": add "not executed:" and a reason.`)
}
