import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

export interface MigrationFile {
  name: string
  sql: string
  /** SHA-256 of the file, as Prisma records it. */
  checksum: string
  /** False: it holds a statement that Postgres runs outside transactions only, and must be alone in its file. */
  transactional: boolean
}

/** The migrations of a folder in the order of their names; each is a folder with a `migration.sql`. */
export async function readMigrations(folder: string): Promise<MigrationFile[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.toSorted().map(async (name) => {
      const sql = await readFile(path.join(folder, name, 'migration.sql'), 'utf8')
      return readMigration(name, sql)
    }),
  )
}

/** Throws if the file ends the transaction that it is run in. */
export function readMigration(name: string, sql: string): MigrationFile {
  const statements = withoutComments(sql)
  if (/^\s*(BEGIN|COMMIT|ROLLBACK|START TRANSACTION)\s*;/im.test(statements)) {
    throw new Error(
      `Migration ${name} opens or ends a transaction. Each file is one transaction already; take that out.`,
    )
  }
  const checksum = createHash('sha256').update(sql).digest('hex')
  return { name, sql, checksum, transactional: !/\b(INDEX|REINDEX\s.*)\s+CONCURRENTLY\b/i.test(statements) }
}

function withoutComments(sql: string): string {
  return sql.replaceAll(/\/\*.*?\*\//gs, ' ').replaceAll(/--.*$/gm, ' ')
}
