import type { Database, Sql } from '@gateway/database/client'

/** Many times what a batch takes; an item that takes longer than this alone is not normal. */
const LIMIT_MS = 500

/** Runs a transaction whose statements have little time: what may stand still stands still briefly. */
export function inAHurry<T>({ sql }: Pick<Database, 'sql'>, work: (transaction: Sql) => Promise<T>): Promise<T> {
  return sql.transaction(async (transaction) => {
    await transaction.query(`SET LOCAL statement_timeout = ${LIMIT_MS}`)
    return work(transaction)
  })
}
