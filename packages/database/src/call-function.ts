import { DatabaseError } from 'pg'
import { rowTypes, sqlFunctions, type SqlFunctions } from './generated/sql-functions.ts'
import type { Sql } from './sql.ts'

// Encodes rows of a row type as the text of a Postgres array: faster to write and to parse than JSON or parallel
// arrays.

/** Column positions of a row type, by the item field that fills them: `maxTokens` fills max_tokens. */
export interface RowType {
  readonly columns: ReadonlyMap<string, number>
  /** A row of nulls as wide as the type in the database, which may be a release ahead, with more columns at the end. */
  nulls: readonly string[]
}

export function openRowType(columns: readonly string[]): RowType {
  return { columns: new Map(columns.map((column, n) => [fieldOf(column), n])), nulls: nullsOf(columns.length) }
}

export function nullsOf(width: number): readonly string[] {
  return Array.from({ length: width }, () => '')
}

/**
 * Encodes a list of items as rows. Fields of a nested object become columns of the same row, so an item of the wire
 * needs no conversion. A field without a column is left out, and a column without a field is null.
 */
export function encodeRows(type: RowType, items: readonly object[]): string {
  let text = '{'
  for (const item of items) text += `${text.length > 1 ? ',' : ''}${quote(encodeRow(type, item))}`
  return `${text}}`
}

/** Encodes one item as a row. */
export function encodeRow(type: RowType, item: object): string {
  const row = type.nulls.slice()
  fill(row, type.columns, item as Fields)
  return `(${row.join(',')})`
}

type Fields = Record<string, unknown>

function fill(row: string[], columns: RowType['columns'], item: Fields): void {
  for (const field in item) {
    const value = item[field]
    if (value === null || value === undefined) continue
    const n = columns.get(field)
    if (n !== undefined) row[n] = encodeField(value)
    else if (typeof value === 'object' && !Array.isArray(value)) fill(row, columns, value as Fields)
  }
}

function encodeField(value: unknown): string {
  if (Array.isArray(value))
    return quote(`{${value.map((each) => (each === null ? 'NULL' : quote(String(each)))).join(',')}}`)
  const text = String(value)
  return PLAIN.test(text) ? text : quote(text)
}

const PLAIN = /^[\w./:@+-]+$/
const SPECIAL = /["\\]/g
const ESCAPED = String.raw`\$&`

function quote(text: string): string {
  return `"${text.replaceAll(SPECIAL, ESCAPED)}"`
}

function fieldOf(column: string): string {
  return column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

interface Statement {
  /** Uses named notation, so no argument depends on its position. */
  text: string
  /** Each encodes its value or passes it through. */
  arguments: [name: string, encode: (value: unknown) => unknown][]
}

const types = new Map<string, RowType>(Object.entries(rowTypes).map(([name, columns]) => [name, openRowType(columns)]))

// Built once: an identical text also reuses the prepared statement.
const statements = new Map<string, Statement>(
  Object.entries(sqlFunctions).map(([name, taken]) => {
    const names = Object.keys(taken)
    const list = names.map((argument, index) => `${argument} => $${index + 1}`)
    return [
      name,
      {
        text: `SELECT * FROM ${name}(${list.join(', ')})`,
        arguments: Object.entries(taken).map(([argument, type]) => [argument, encoderOf(type)]),
      },
    ]
  }),
)

/**
 * Calls a function of the database with all arguments by name, in one round trip, and returns its row. Lists of items
 * are encoded by their row type (encodeRows).
 */
export async function callFunction<Name extends keyof SqlFunctions>(
  sql: Sql,
  name: Name,
  args: SqlFunctions[Name]['takes'],
): Promise<SqlFunctions[Name]['answers']> {
  const { text, arguments: taken } = statements.get(name)!
  const ask = () =>
    sql.query<SqlFunctions[Name]['answers']>(
      text,
      taken.map(([argument, encode]) => encode(args[argument as keyof typeof args])),
    )
  try {
    const [row] = await ask()
    return row!
  } catch (error) {
    if (!isOfOtherWidth(error)) throw error
    await readWidths(sql)
    const [row] = await ask()
    return row!
  }
}

function encoderOf(type: string): (value: unknown) => unknown {
  const rowType = types.get(type.replace('[]', ''))
  if (rowType === undefined) return (value) => value
  if (type.endsWith('[]')) return (value) => encodeRows(rowType, value as object[])
  return (value) => encodeRow(rowType, value as object)
}

/** The row types of the database are a release ahead of those known here, or behind. The call has not executed. */
function isOfOtherWidth(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || error.code !== '22P02') return false
  return error.detail === 'Too few columns.' || error.detail === 'Too many columns.'
}

async function readWidths(sql: Sql): Promise<void> {
  const rows = await sql.query<{ name: string; width: number }>(
    'SELECT name, relnatts::integer AS width FROM unnest($1::text[]) name JOIN pg_class c ON c.oid = name::regclass',
    [[...types.keys()]],
  )
  for (const { name, width } of rows) types.get(name)!.nulls = nullsOf(width)
}
