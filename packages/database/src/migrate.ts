// Brings a database up to the migrations under prisma/migrations and the functions under prisma/functions.
//   M1  One migration is one transaction together with its row in the book: a kill leaves all of it or nothing,
//       and the next run goes on from there. A concurrent index is the exception, alone in its file.
//   M2  A file is sent as it is, as one simple query: nothing splits it, so function bodies stay whole.
//   M3  An applied file never changes: another checksum stops it before anything is done.
//   M4  No statement waits long for a lock, since everyone else would queue behind it: it gives up, and tries again.
//   M5  Functions come after all migrations, under the same lock (apply-functions.ts).
import path from 'node:path'
import { DatabaseError, type Client } from 'pg'
import { applyFunctions } from './apply-functions.ts'
import { databaseOf, describeUrl, withDatabase } from './database-url.ts'
import { openJobClient } from './job-client.ts'
import { bookFinished, bookOutcome, bookRolledBack, bookStarted, lockBook, readBook } from './migration-book.ts'
import { readMigrations, type MigrationFile } from './migration-files.ts'
import { withShortLocks, type LockOptions } from './short-locks.ts'
import { sqlFailure } from './sql-failure.ts'
import { refuseUnsupported } from './supported-server.ts'

const projectMigrations = path.resolve(import.meta.dirname, '../../../prisma/migrations')
const projectFunctions = path.resolve(import.meta.dirname, '../../../prisma/functions')
const noSuchDatabase = '3D000'

export interface MigrateOptions extends LockOptions {
  /** An owner's login, straight to Postgres and not through a transaction pooler. */
  url: string
  /** Default: prisma/migrations and prisma/functions of this project. */
  folders?: { migrations: string; functions: string }
  /** The name of a migration that was left unfinished outside a transaction and shall be tried again. */
  again?: string
  /** For tests: the one major version of Postgres that is not refused. Default: the one that the service works on. */
  supportedMajor?: number
}

/**
 * Applies the migrations that are missing, in order, and the functions that changed; answers their names. Makes the
 * database if there is none. The book is Prisma's `_prisma_migrations`, so `prisma migrate deploy` stays usable for the
 * migrations. Throws one readable message if the server or the database is not one to keep money in, if a migration
 * fails, was changed after it had been applied, or was left unfinished, and if a function fails or has changed its
 * signature.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const folders = options.folders ?? { migrations: projectMigrations, functions: projectFunctions }
  const migrations = await readMigrations(folders.migrations)
  await ensureDatabase(options.url)
  const client = openJobClient(options.url, 'svc-migrate')
  client.on('error', () => {}) // a lost connection also fails the query that is under way
  await client.connect()
  try {
    await refuseUnsupported(client, options.supportedMajor)
    await lockBook(client, options.log)
    if (options.again && !(await bookRolledBack(client, options.again))) {
      throw new Error(`There is no unfinished migration ${options.again}.`)
    }
    const missing = await findMissing(client, migrations, options.log)
    for (const migration of missing) {
      options.log(`Migration ${migration.name}`)
      if (migration.transactional) await applyInTransaction(client, migration, options)
      else await applyOutsideTransaction(client, migration)
    }
    const functions = await applyFunctions(client, folders.functions, options) // M5
    return [...missing.map(({ name }) => name), ...functions]
  } finally {
    await client.end()
  }
}

async function findMissing(
  client: Client,
  migrations: MigrationFile[],
  log: (line: string) => void,
): Promise<MigrationFile[]> {
  const book = await readBook(client)
  const files = new Map(migrations.map((migration) => [migration.name, migration]))
  refuseOlder(book.keys(), migrations)
  for (const { migration_name: name, checksum, finished_at, logs } of book.values()) {
    if (finished_at === null) {
      throw new Error(
        `Migration ${name} was started and not finished${logs ? `: ${logs}` : '.'}\n` +
          `Look at what it left (an invalid index is dropped with DROP INDEX), then migrate with --again ${name}.`,
      )
    }
    const file = files.get(name)
    if (!file) log(`Migration ${name} is applied but not here: a newer version was at this database.`)
    else if (file.checksum !== checksum) {
      throw new Error(
        `Migration ${name} was changed after it had been applied. Put the file back as it was and write a new migration.`,
      )
    }
  }
  return migrations.filter(({ name }) => !book.has(name))
}

/** The first file is where every database begins: one with an older migration has tables that no file here tells of. */
function refuseOlder(applied: Iterable<string>, [first]: MigrationFile[]): void {
  if (first === undefined || ![...applied].some((name) => name < first.name)) return
  throw new Error(
    `This database was made before ${first.name} and can not be brought up to it. Give the service an empty database; ` +
      'where `npm start` made it, move the folder .local away, with which the keys and projects in it go.',
  )
}

async function applyInTransaction(client: Client, migration: MigrationFile, options: LockOptions): Promise<void> {
  const title = `Migration ${migration.name}`
  try {
    await withShortLocks(client, title, options, async () => {
      // M4
      const startedAt = new Date()
      await client.query(migration.sql) // M2
      await bookFinished(client, migration, startedAt) // M1
    })
  } catch (error) {
    throw sqlFailure(title, migration.sql, error)
  }
}

async function applyOutsideTransaction(client: Client, migration: MigrationFile): Promise<void> {
  const id = await bookStarted(client, migration)
  try {
    await client.query(migration.sql)
  } catch (error) {
    await bookOutcome(client, id, error instanceof Error ? error.message : String(error))
    throw sqlFailure(`Migration ${migration.name}`, migration.sql, error)
  }
  await bookOutcome(client, id, null)
}

/** Made as text by byte in UTF-8, so that ids order alike everywhere. */
async function ensureDatabase(url: string): Promise<void> {
  const refused = await tryToConnect(url)
  if (refused === null) return
  if (!(refused instanceof DatabaseError) || refused.code !== noSuchDatabase) {
    throw new Error(`Postgres can't be used as ${describeUrl(url)}: ${describe(refused)}`, { cause: refused })
  }
  const client = openJobClient(withDatabase(url, 'postgres'), 'svc-migrate')
  await client.connect()
  try {
    const name = client.escapeIdentifier(databaseOf(url))
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`)
  } catch (error) {
    if ((await tryToConnect(url)) !== null) throw error // someone else made it at the same moment
  } finally {
    await client.end()
  }
}

async function tryToConnect(url: string): Promise<unknown> {
  const client = openJobClient(url, 'svc-migrate')
  try {
    await client.connect()
    return null
  } catch (error) {
    return error
  } finally {
    await client.end().catch(() => {})
  }
}

/** A refused connection to a name with several addresses is an error without a message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}
