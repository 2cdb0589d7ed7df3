import type { Statement } from './split-specification.ts'

/** A test: its file, its full title (titles-in.ts), and of a test that is made of rows the text that its row has in the source. */
export type Proof = readonly [file: string, title: string, row?: string]

/** One statement of the specification, word for word, and what holds it true. */
export type Row = { says: string } & (
  | { provedBy: readonly Proof[] }
  /** Why there is nothing to prove: it defines a word, introduces what follows, or leaves open what a document of ours decides. */
  | { because: string }
  /** What no test notices yet. */
  | { lacks: string }
)
export type Table = Readonly<Record<string, Row>>

/** The tests that there are. */
export interface Suite {
  /** Null where there is no such file. */
  titlesIn(file: string): ReadonlySet<string> | null
  /** Whether the file, or one that it imports by a relative path, has this text. */
  says(file: string, text: string): boolean
}

export interface Problem {
  id: string
  what: string
}

/** Whatever the table lacks: a statement without its row, a row without its statement, a proof that is not there. */
export function checkTable(statements: readonly Statement[], table: Table, suite: Suite): Problem[] {
  const known = new Set(statements.map(({ id }) => id))
  const strays = Object.keys(table).filter((id) => !known.has(id))
  return [
    ...statements.flatMap(({ id, says }) => problemsOf(says, table[id], suite).map((what) => ({ id, what }))),
    ...strays.map((id) => ({ id, what: 'the specification has no such statement' })),
  ]
}

function problemsOf(says: string, row: Row | undefined, suite: Suite): string[] {
  if (row === undefined) return [`has no row: ${says}`]
  if (row.says !== says) return [`says something else in the specification: ${says}`]
  if ('lacks' in row) return [`lacks a test: ${row.lacks}`]
  if ('because' in row) return row.because === '' ? ['gives no reason'] : []
  if (row.provedBy.length === 0) return ['names no test']
  return row.provedBy.flatMap((proof) => problemOf(proof, suite) ?? [])
}

/** What is wrong with a proof; null: nothing. */
export function problemOf([file, title, row]: Proof, suite: Suite): string | null {
  const titles = suite.titlesIn(file)
  if (titles === null) return `there is no ${file}`
  if (!titles.has(title)) return `${file} has no test “${title}”`
  return row === undefined || suite.says(file, row) ? null : `${file} has no row “${row}”`
}
