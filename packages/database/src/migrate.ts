// Brings a database up to the migrations under prisma/migrations.
//   M1  One migration is one transaction together with its row in the book: a kill leaves all of it or nothing,
//       and the next run goes on from there. A concurrent index is the exception, alone in its file.
//   M2  A file is sent as it is, as one simple query: nothing splits it, so function bodies stay whole.
//   M3  An applied file never changes: another checksum stops the run before anything is done.
//   M4  No statement waits long for a lock, since everyone else would queue behind it: it gives up, and tries again.
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import { databaseOf, describeUrl, withDatabase } from './database-url.ts'
import { bookFinished, bookOutcome, bookRolledBack, bookStarted, lockBook, readBook } from './migration-book.ts'
import { readMigrations, type MigrationFile } from './migration-files.ts'

const projectMigrations = path.resolve(import.meta.dirname, '../../../prisma/migrations')
const lockNotAvailable = '55P03'
const noSuchDatabase = '3D000'

export interface MigrateOptions {
  /** An owner's login, straight to Postgres and not through a transaction pooler. */
  url: string
  log: (line: string) => void
  /** Default: prisma/migrations of this project. */
  folder?: string
  /** How long one statement may wait for a lock, in milliseconds. Default 3000. */
  lockTimeoutMs?: number
  /** How often a migration that met such a lock is tried. Default 20, half a second apart. */
  lockAttempts?: number
  /** The name of a migration that was left unfinished outside a transaction and shall be tried again. */
  again?: string
}

/**
 * Applies what is missing, in order, and answers its names. Makes the database if there is none. The book is
 * Prisma's `_prisma_migrations`, so `prisma migrate deploy` stays usable. Throws one readable message if a
 * migration fails, was changed after it had been applied, or was left unfinished.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const migrations = await readMigrations(options.folder ?? projectMigrations)
  await ensureDatabase(options.url)
  const client = new Client({ connectionString: options.url, application_name: 'svc-migrate' })
  client.on('error', () => {}) // a lost connection also fails the query that is under way
  await client.connect()
  try {
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
    return missing.map(({ name }) => name)
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

async function applyInTransaction(
  client: Client,
  migration: MigrationFile,
  { lockTimeoutMs = 3_000, lockAttempts = 20, log }: MigrateOptions,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query('BEGIN')
      await client.query("SELECT set_config('lock_timeout', $1, true)", [String(lockTimeoutMs)])
      const startedAt = new Date()
      await client.query(migration.sql) // M2
      await bookFinished(client, migration, startedAt) // M1
      await client.query('COMMIT')
      return
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      const lockedOut = error instanceof DatabaseError && error.code === lockNotAvailable
      if (!lockedOut || attempt >= lockAttempts) throw failure(migration, error)
      log(`Migration ${migration.name}: a table is in use, trying again`) // M4
      await wait(500)
    }
  }
}

async function applyOutsideTransaction(client: Client, migration: MigrationFile): Promise<void> {
  const id = await bookStarted(client, migration)
  try {
    await client.query(migration.sql)
  } catch (error) {
    await bookOutcome(client, id, error instanceof Error ? error.message : String(error))
    throw failure(migration, error)
  }
  await bookOutcome(client, id, null)
}

function failure({ name, sql }: MigrationFile, error: unknown): Error {
  if (!(error instanceof DatabaseError))
    return new Error(`Migration ${name} failed: ${String(error)}`, { cause: error })
  const line = error.position ? sql.slice(0, Number(error.position)).split('\n').length : null
  const where = line ? ` at line ${line}` : ''
  const more = [error.detail, error.hint, error.where].filter(Boolean).map((text) => `\n  ${text}`)
  return new Error(`Migration ${name} failed${where}: ${error.message} (${error.code})${more.join('')}`, {
    cause: error,
  })
}

/** Made as text by byte in UTF-8, so that ids order alike everywhere. */
async function ensureDatabase(url: string): Promise<void> {
  const refused = await tryToConnect(url)
  if (refused === null) return
  if (!(refused instanceof DatabaseError) || refused.code !== noSuchDatabase) {
    throw new Error(`Postgres can't be used as ${describeUrl(url)}: ${describe(refused)}`, { cause: refused })
  }
  const client = new Client({ connectionString: withDatabase(url, 'postgres') })
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
  const client = new Client({ connectionString: url })
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
