import type { Sql } from './sql.ts'
import { sqlFunctions, type AnswerOf, type ArgumentsOf, type SqlFunctionName } from './sql-functions.ts'

interface Statement {
  /** Named notation, so that no argument is known by its place. */
  text: string
  names: readonly string[]
}

// Built once: the same text each time is also the same prepared statement.
const statements = new Map<string, Statement>(
  Object.entries(sqlFunctions).map(([name, { takes }]) => {
    const names = Object.keys(takes)
    const list = names.map((argument, index) => `${argument} => $${index + 1}`)
    return [name, { text: `SELECT * FROM ${name}(${list.join(', ')})`, names }]
  }),
)

/** Calls a function of the database with all its arguments by name, in one round trip, and answers its row. */
export async function callFunction<Name extends SqlFunctionName>(
  sql: Sql,
  name: Name,
  args: ArgumentsOf<Name>,
): Promise<AnswerOf<Name>> {
  const { text, names } = statements.get(name)!
  const values = names.map((argument) => args[argument as keyof typeof args])
  const [row] = await sql.query<AnswerOf<Name>>(text, values)
  return row!
}
