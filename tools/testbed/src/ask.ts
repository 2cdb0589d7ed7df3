import { Client, type QueryResultRow } from 'pg'

/** Runs SQL in a separate session and returns the rows. */
export async function ask(url: string, sql: string, values: unknown[] = []): Promise<QueryResultRow[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    // Without values it is sent as one simple query, which may have several statements.
    return (await client.query(sql, values.length > 0 ? values : undefined)).rows
  } finally {
    await client.end()
  }
}

/** A name in a fixture: never the id, so that a test cannot confuse the two. */
export const nameOf = (id: string): string => `Named ${id.slice(-6)}`
