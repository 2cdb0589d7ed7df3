import type { Graph } from '@gateway/api/graph'
import { compareThree, type MergedPart } from '@gateway/flow/compare/merge'
import { unitText } from '@gateway/flow/compare/difference'
import type { Io } from '../frame/io.ts'

const words = {
  unchanged: '',
  mine: 'changed here',
  theirs: 'changed on the gateway',
  both: 'changed equally on both sides',
  conflict: 'changed differently on both sides',
} as const

/** The parts that differ among three graphs: the common base, the revision saved since, and the local file. */
export function differing(base: Graph, theirs: Graph, mine: Graph): MergedPart[] {
  return compareThree(base, theirs, mine).filter(({ outcome }) => outcome !== 'unchanged')
}

/** Each of them, with its values before and on each side. */
export function differenceText(parts: readonly MergedPart[]): string {
  return parts
    .map(({ key, outcome, base, theirs, mine }) => {
      const side = (title: string, text: string) => text.split('\n').map((line) => `  ${title} ${line}`)
      const isOnly = (of: 'mine' | 'theirs') => outcome === of
      return [
        `${key}: ${words[outcome]}`,
        ...side('was  ', unitText(base)),
        ...(isOnly('mine') ? [] : side('there', unitText(theirs))),
        ...(isOnly('theirs') ? [] : side('here ', unitText(mine))),
      ].join('\n')
    })
    .join('\n')
}

/** One line for each of them. */
export function formatDifference(io: Io, parts: readonly MergedPart[]): void {
  io.say(differenceText(parts))
}

export const emptyGraph: Graph = {
  input: { type: 'object', properties: {} },
  output: { type: 'object', properties: {} },
  nodes: [],
  edges: [],
}
