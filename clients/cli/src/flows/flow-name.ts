import { CommandFailure } from '../frame/command-failure.ts'

const FILE = /^[a-z0-9][a-z0-9-]{0,99}$/
const ENDING = '.flow.json'

export const fileOf = (name: string) => name + ENDING

/** A file name for any name of a flow, always inside this folder. @param taken names of others */
export function nameFor(title: string, id: string, taken: ReadonlySet<string>): string {
  const plain = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '')
  const own = id.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const name = plain === '' ? own : plain
  return taken.has(name) || !FILE.test(name) ? `${name}-${own}`.slice(-100).replace(/^-+/, '') : name
}

/** The name of a flow from user input: the name, or its file. */
export function readFlowName(text: string): string {
  const name = text.endsWith(ENDING) ? text.slice(0, -ENDING.length) : text
  if (FILE.test(name)) return name
  throw new CommandFailure(
    `${JSON.stringify(text)} is not a valid flow name.`,
    'Use lowercase letters, digits and dashes. Name another folder with --dir',
    'usage',
  )
}

/** Name of the flow in a file, or null if the file is not a flow. */
export function nameOfFile(file: string): string | null {
  const name = file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : ''
  return FILE.test(name) ? name : null
}
