import { DatabaseError, type Pool, type PoolClient, types } from 'pg'

// Statements without Prisma, on the same connections: for frequent queries this halves the cost to the process.
//   S1  A statement is prepared once per connection, under a name derived from its text.
//   S2  A connection on which Postgres only refused a statement stays in the pool. One that broke or was cancelled
//       leaves it: the cancel request may still arrive, and would end the next statement.
//   S3  A transaction whose statements did not all succeed is not committed, even if the caller caught the error.

export interface Sql {
  /**
   * Returns the rows of one statement. `bigint` is a bigint, `bytea` a Buffer, `timestamptz` a Date, `date` and
   * `numeric` their text, json its value. A JavaScript list is a Postgres array.
   * @throws DatabaseError with the SQLSTATE in `code`; the error of the socket if the connection broke
   */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

export interface SqlPool extends Sql {
  /**
   * Runs `work` in a transaction on one connection (READ COMMITTED), and commits it. @throws the error of `work`, after
   * a rollback
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>
}

/** @param nameOf the name of a prepared statement; null to prepare none */
export function openSql(pool: Pool, nameOf: ((query: { sql: string }) => string) | null): SqlPool {
  const sqlOf = (client: PoolClient): Sql => ({
    async query<Row>(text: string, values: readonly unknown[] = []) {
      const name = nameOf?.({ sql: text })
      const { rows } = await client.query({ text, values: [...values], types: parsers, ...(name && { name }) })
      return rows as Row[]
    },
  })

  return {
    async query(text, values) {
      const client = await pool.connect()
      let stays = false
      try {
        const rows = await sqlOf(client).query(text, values)
        stays = true
        return rows as never
      } catch (error) {
        stays = isRefusal(error) // S2
        throw error
      } finally {
        client.release(!stays)
      }
    },

    async transaction(work) {
      const client = await pool.connect()
      let stays = false
      try {
        await client.query('BEGIN')
        const result = await work(sqlOf(client))
        const { command } = await client.query('COMMIT')
        if (command !== 'COMMIT') throw new Error('a statement of this transaction had failed, so it was rolled back') // S3
        stays = true
        return result
      } catch (error) {
        await client.query('ROLLBACK').then(
          () => (stays = !(error instanceof DatabaseError) || isRefusal(error)), // S2
          () => {}, // the connection is lost, and the transaction with it
        )
        throw error
      } finally {
        client.release(!stays)
      }
    },
  }
}

/** Whether Postgres refused a statement, which leaves the connection usable (S2). */
function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && error.severity === 'ERROR' && error.code !== '57014'
}

const { builtins, getTypeParser } = types

const parsers: { getTypeParser: typeof getTypeParser } = {
  getTypeParser: ((type: Parameters<typeof getTypeParser>[0], format?: 'text') => {
    if (type === builtins.INT8) return BigInt
    if (type === builtins.DATE) return String // JavaScript has no date without a time zone
    return getTypeParser(type, format ?? 'text')
  }) as typeof getTypeParser,
}

/** One readable message for SQL that Postgres refused: the line, the reason, and the details that Postgres adds. */
export function sqlFailure(title: string, sql: string, error: unknown): Error {
  if (!(error instanceof DatabaseError)) return new Error(`${title} failed: ${String(error)}`, { cause: error })
  const line = error.position ? sql.slice(0, Number(error.position)).split('\n').length : null
  const where = line ? ` at line ${line}` : ''
  const more = [error.detail, error.hint, error.where].filter(Boolean).map((text) => `\n  ${text}`)
  return new Error(`${title} failed${where}: ${error.message} (${error.code})${more.join('')}`, { cause: error })
}

const mostStatements = 1_000

/**
 * Returns names for prepared statements: the same text has the same name. A statement stays prepared in every session
 * that ran it, so beyond a thousand texts (generated queries in ever new forms) no further ones are named; those are
 * planned on each use.
 */
export function statementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>()
  return ({ sql }) => {
    const known = names.get(sql)
    if (known !== undefined) return known
    if (names.size >= mostStatements) return ''
    const name = `svc${names.size + 1}`
    names.set(sql, name)
    return name
  }
}

/**
 * The value for a function argument, by its Postgres type. A list of bytes has no null: the driver takes the type of a
 * list from its first item.
 */
export interface Taken {
  boolean: boolean
  integer: number
  bigint: number | bigint
  text: string
  /** JSON text. */
  jsonb: string
  bytea: Uint8Array
  'integer[]': readonly (number | null)[]
  'text[]': readonly (string | null)[]
  'bytea[]': readonly Uint8Array[]
}

/** The value of a function result, by its Postgres type. */
export interface Answered {
  boolean: boolean
  integer: number
  bigint: bigint
  text: string
  jsonb: unknown
  bytea: Uint8Array
  'integer[]': number[]
  'text[]': string[]
  'bytea[]': Uint8Array[]
}
