import { Client, type QueryResultRow } from 'pg'

/** Runs SQL in its own session and answers the rows. */
export async function ask(url: string, sql: string, values: unknown[] = []): Promise<QueryResultRow[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    // Without values it goes as one simple query, which may hold several statements.
    return (await client.query(sql, values.length > 0 ? values : undefined)).rows
  } finally {
    await client.end()
  }
}
