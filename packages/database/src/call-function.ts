import { DatabaseError } from 'pg'
import { encodeRow, encodeRows, nullsOf, openRowType, type RowType } from './encode-rows.ts'
import { rowTypes, sqlFunctions, type SqlFunctions } from './generated/sql-functions.ts'
import type { Sql } from './sql.ts'

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
