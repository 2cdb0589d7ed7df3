import { DatabaseError } from 'pg'
import { rowTypes, sqlFunctions, type SqlFunctions } from './generated/sql-functions.ts'
import type { Sql } from './sql.ts'

// Rows of a row type, as Postgres writes an array of them in text: faster to make and to read than JSON or parallel arrays.

/** Where the columns of a row type stand, by the field of an item that fills them: `maxTokens` fills max_tokens. */
export interface RowType {
  readonly columns: ReadonlyMap<string, number>
  /** A row of nulls, of the width that the type has in the database: that may be a release ahead, with more columns at the end. */
  nulls: readonly string[]
}

export function openRowType(columns: readonly string[]): RowType {
  return { columns: new Map(columns.map((column, n) => [fieldOf(column), n])), nulls: nullsOf(columns.length) }
}

export function nullsOf(width: number): readonly string[] {
  return Array.from({ length: width }, () => '')
}

/**
 * A list of items as rows. The fields of an object inside an item are columns alongside the others, so that an item of the wire is a
 * row unchanged. A field without a column is left out, and a column without a field is null.
 */
export function encodeRows(type: RowType, items: readonly object[]): string {
  let text = '{'
  for (const item of items) text += `${text.length > 1 ? ',' : ''}${quote(encodeRow(type, item))}`
  return `${text}}`
}

/** One item as a row. */
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
  /** Named notation, so that no argument is known by its place. */
  text: string
  /** Each encodes its value, or hands it on. */
  arguments: [name: string, encode: (value: unknown) => unknown][]
}

const types = new Map<string, RowType>(Object.entries(rowTypes).map(([name, columns]) => [name, openRowType(columns)]))

// Built once: the same text each time is also the same prepared statement.
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
 * Calls a function of the database with all its arguments by name, in one round trip, and answers its row. A list of items is
 * encoded as its row type says (encodeRows).
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

/** The row types of the database are a release ahead of what was known here, or behind. Nothing was done yet. */
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
