import { DatabaseError } from 'pg'

/** A file of SQL as Postgres refused it, in one readable message: the line, the reason, and what Postgres adds to it. */
export function sqlFailure(title: string, sql: string, error: unknown): Error {
  if (!(error instanceof DatabaseError)) return new Error(`${title} failed: ${String(error)}`, { cause: error })
  const line = error.position ? sql.slice(0, Number(error.position)).split('\n').length : null
  const where = line ? ` at line ${line}` : ''
  const more = [error.detail, error.hint, error.where].filter(Boolean).map((text) => `\n  ${text}`)
  return new Error(`${title} failed${where}: ${error.message} (${error.code})${more.join('')}`, { cause: error })
}
