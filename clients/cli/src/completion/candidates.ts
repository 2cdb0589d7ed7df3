import type { CommandRow, Offered, OptionRow, OperandRow } from '../frame/command-row.ts'
import { rowOf } from '../frame/read-arguments.ts'

export interface Candidate {
  word: string
  summary: string
}

export interface Candidates {
  words: readonly Candidate[]
  /** Further candidates that the table of commands does not know. */
  offered: Offered | null
  /** Prefix of each candidate, such as `--state=`. */
  prefix: string
  /** Options already on the line: the name and the value. */
  given: ReadonlyMap<string, string>
}

/**
 * Returns the candidates for the last word. @param line the words after `gateway`; the last one is still being typed
 * and may be empty
 */
export function candidatesAt(commands: readonly CommandRow[], line: readonly string[]): Candidates {
  const begun = line.at(-1) ?? ''
  const before = line.slice(0, -1)
  const row = rowOf(commands, before)
  if (!row) return only(begun.startsWith('-') ? optionsOfAll(before) : wordsOfNames(commands, before))
  const { given, operands, open, isOver } = readLine(row, before.slice(row.name.split(' ').length))
  if (open) return valuesOf(open, given)
  const [prefix = '', name = ''] = (!isOver && /^--([^=]+)=/.exec(begun)) || []
  const named = row.options[name]
  if (named) return { ...valuesOf(named, given), prefix }
  const last = row.operands.at(-1)
  const operand = row.operands[operands] ?? (last?.several ? last : undefined)
  if (operand && (isOver || !begun.startsWith('-'))) return valuesOf(operand, given)
  if (isOver || !/^(-|$)/.test(begun)) return only([])
  const left = Object.entries(row.options).filter(([option]) => !given.has(option))
  return only(left.map(([option, { summary }]) => ({ word: `--${option}`, summary })))
}

const help = { word: '--help', summary: 'Show help' }
const version = { word: '--version', summary: 'Show the version' }
const optionsOfAll = (before: readonly string[]) => (before.length === 0 ? [help, version] : [help])

const only = (words: readonly Candidate[], given: Candidates['given'] = new Map()) => ({
  words,
  offered: null,
  prefix: '',
  given,
})

/** Nouns, then verbs. */
function wordsOfNames(commands: readonly CommandRow[], before: readonly string[]): readonly Candidate[] {
  const pairs = commands.map(({ name, summary }) => ({ words: name.split(' '), summary }))
  const verbsOf = (noun: string) => pairs.filter(({ words }) => words[0] === noun)
  if (before.length > 1) return []
  if (before.length === 1) return verbsOf(before[0]!).map(({ words, summary }) => ({ word: words[1]!, summary }))
  return [...new Set(pairs.map(({ words }) => words[0]!))].map((word) => ({
    word,
    summary: verbsOf(word)
      .map(({ words, summary }) => words[1] ?? summary)
      .join(', '),
  }))
}

/** Also reads an invalid line. */
function readLine({ options }: CommandRow, before: readonly string[]) {
  const given = new Map<string, string>()
  let operands = 0
  let waiting: string | null = null
  let isOver = false
  for (const word of before) {
    const [, name = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    if (waiting !== null) given.set(waiting, word)
    if (waiting !== null) waiting = null
    else if (isOver || name === '')
      [operands, isOver] = word === '--' && !isOver ? [operands, true] : [operands + 1, isOver]
    else if (value === undefined && options[name]?.type === 'string') waiting = name
    else given.set(name, value ?? '')
  }
  return { given, operands, isOver, open: waiting === null ? null : options[waiting]! }
}

function valuesOf(row: OptionRow | OperandRow, given: Candidates['given']): Candidates {
  if ('type' in row && row.type === 'boolean') return only([], given)
  const words = (row.choices ?? []).map((word) => ({ word, summary: '' }))
  return { ...only(words, given), offered: row.offered ?? null }
}
