import type { DocBlock } from './doc-blocks.ts'

// What a block of a guide is, by what is behind its three back-ticks:
//   ```sh                         commands, in the one shell of the guide
//   ```sh variables               what readers put in for themselves: the test does so too
//   ```js first-call.mjs          a file, which a command has to name
//   ```json                       what the commands before have printed (also ndjson, csv and text); … stands for anything
//   ```sh not executed: <why>     with the name of a file or without; its form is checked where someone knows how

export type GuidePart =
  | { kind: 'commands' | 'variables' }
  | { kind: 'file'; name: string }
  | { kind: 'output'; form: OutputForm }
  | { kind: 'unexecuted'; reason: string }

export type OutputForm = (typeof outputForms)[number]

const outputForms = ['json', 'ndjson', 'csv', 'text'] as const

/** @throws Error for a block that no one knows how to run */
export function partOfGuide({ language, note }: DocBlock): GuidePart {
  const [, name, reason] = /^([\w-]+(?:\.[\w-]+)+)?\s*(?:not executed: (.{20,}))?$/.exec(note) ?? []
  if (reason !== undefined) return { kind: 'unexecuted', reason }
  if (name !== undefined) return { kind: 'file', name }
  if (language === 'sh' && note === 'variables') return { kind: 'variables' }
  if (language === 'sh' && note === '') return { kind: 'commands' }
  const form = outputForms.find((each) => each === language)
  if (form !== undefined && note === '') return { kind: 'output', form }
  throw new Error(`No one knows how to run a block of "${language} ${note}"; say "not executed:" and why.`)
}
