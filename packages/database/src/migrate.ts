import path from 'node:path'
import { type Client, DatabaseError } from 'pg'
import { applyFunctions } from './apply-functions.ts'
import { databaseOf, describeUrl, withDatabase } from './client.ts'
import { openJobClient } from './job-client.ts'
import { type LockOptions, withShortLocks } from './short-locks.ts'
import { sqlFailure } from './sql.ts'
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

// Brings a database up to date with the migrations under prisma/migrations and the functions under prisma/functions.
//   M1  One migration and its row in the record are one transaction: a kill leaves all of it or nothing, and the next
//       run continues from there. A concurrent index is the exception, alone in its file.
//   M2  A file is sent unchanged, as one simple query: nothing splits it, so function bodies stay in one piece.
//   M3  An applied file never changes: a different checksum stops the run before it changes anything.
//   M4  No statement waits long for a lock, since everyone else would queue behind it: it gives up and retries.
//   M5  Functions come after all migrations, under the same lock (apply-functions.ts).

const projectMigrations = path.resolve(import.meta.dirname, '../../../prisma/migrations')
const projectFunctions = path.resolve(import.meta.dirname, '../../../prisma/functions')
const noSuchDatabase = '3D000'

export interface MigrateOptions extends LockOptions {
  /** The owner's login, directly to Postgres and not through a transaction pooler. */
  url: string
  /** Default: prisma/migrations and prisma/functions of this project. */
  folders?: { migrations: string; functions: string }
  /** Name of a migration that was left unfinished outside a transaction and should be retried; ignored if it was not. */
  again?: string
  /** For tests: the only major version of Postgres that is accepted. Default: the one that the service supports. */
  supportedMajor?: number
}

/**
 * Applies the missing migrations in order and the changed functions; returns their names. Creates the database if it
 * does not exist. The record is Prisma's `_prisma_migrations`, so `prisma migrate deploy` remains usable for the
 * migrations. Throws one readable message if the server or the database is not fit to keep money in; if a migration
 * fails, changed after it was applied, or was left unfinished; and if a function fails or changed its signature.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const folders = options.folders ?? { migrations: projectMigrations, functions: projectFunctions }
  const migrations = await readMigrations(folders.migrations)
  await ensureDatabase(options.url)
  const client = openJobClient(options.url, 'svc-migrate')
  client.on('error', () => {}) // a lost connection also fails the query in flight
  await client.connect()
  try {
    await refuseUnsupported(client, options.supportedMajor)
    await lockBook(client, options.log)
    if (options.again) await retry(client, options.again, migrations, options.log)
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

/** A name that stays set after its migration was retried stops no later run. */
async function retry(
  client: Client,
  name: string,
  migrations: MigrationFile[],
  log: (line: string) => void,
): Promise<void> {
  if (await bookRolledBack(client, name)) return
  const booked = await client.query('SELECT FROM public._prisma_migrations WHERE migration_name = $1', [name])
  if (booked.rowCount === 0 && !migrations.some((migration) => migration.name === name))
    throw new Error(`There is no migration ${name}. Correct MIGRATE_AGAIN (--again).`)
  log(`Migration ${name} is not unfinished: remove MIGRATE_AGAIN (--again).`)
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
          `Look at what it left (an invalid index is dropped with DROP INDEX), then migrate with MIGRATE_AGAIN=${name} (--again ${name}).`,
      )
    }
    const file = files.get(name)
    if (!file) log(`Migration ${name} is applied but unknown here: a newer version has used this database.`)
    else if (file.checksum !== checksum) {
      if (file === migrations[0])
        throw madeOtherwise(`by another version of ${name}`, ', or put the file back if it was edited')
      throw new Error(
        `Migration ${name} was changed after it had been applied. Put the file back as it was and write a new migration.`,
      )
    }
  }
  return migrations.filter(({ name }) => !book.has(name))
}

/** Every database starts with the first file: one with an older migration has tables that no file here describes. */
function refuseOlder(applied: Iterable<string>, [first]: MigrationFile[]): void {
  if (first !== undefined && [...applied].some((name) => name < first.name)) throw madeOtherwise(`before ${first.name}`)
}

/** No migration leads from one version of the first file to another. An empty database comes last: it costs the data. */
function madeOtherwise(how: string, orElse: string = ''): Error {
  return new Error(
    `This database was made ${how}. Run the version of the service that made it${orElse}. Only if you can do without its ` +
      'keys and projects, give the service an empty database: where `npm start` made it, move its data folder away (.local, or DATA_FOLDER).',
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

/** UTF-8 with byte order, so that ids sort alike everywhere. */
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
    if ((await tryToConnect(url)) !== null) throw error // a concurrent run created it
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

/** A refused connection to a name with several addresses is an error without a message. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}

export interface MigrationFile {
  name: string
  sql: string
  /** SHA-256 of the file, as Prisma records it. */
  checksum: string
  /** False for a statement that Postgres runs only outside transactions; it must be alone in its file. */
  transactional: boolean
}

/** Reads the migrations of a folder in order of name; each is a folder with a `migration.sql`. */
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

/** Throws if the file ends the transaction that it runs in. */
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

// Lock and table are Prisma's own, so that `prisma migrate deploy` and this runner share one record.
const prismaLock = 72_707_369

export interface BookedMigration {
  migration_name: string
  checksum: string
  finished_at: Date | null
  rolled_back_at: Date | null
  logs: string | null
}

const ASK_EVERY_MS = 500

/**
 * Waits until no other migration runs on this database, and holds the lock until the connection ends. Asks for it
 * repeatedly: a statement that waits has a snapshot, for whose end a concurrent index of the other migration waits.
 */
export async function lockBook(client: Client, log: (line: string) => void): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { rows } = await client.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [prismaLock])
    if (rows[0]?.got) break
    if (attempt === 1) log('Another process is migrating this database: waiting for it')
    await wait(ASK_EVERY_MS)
  }
  await client.query(`CREATE TABLE IF NOT EXISTS public._prisma_migrations (
    id                  VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum            VARCHAR(64) NOT NULL,
    finished_at         TIMESTAMPTZ,
    migration_name      VARCHAR(255) NOT NULL,
    logs                TEXT,
    rolled_back_at      TIMESTAMPTZ,
    started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`)
}

/** Reads the record, without migrations that were rolled back. */
export async function readBook(client: Client): Promise<Map<string, BookedMigration>> {
  const { rows } = await client.query<BookedMigration>(
    `SELECT migration_name, checksum, finished_at, rolled_back_at, logs
     FROM public._prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
  )
  return new Map(rows.map((row) => [row.migration_name, row]))
}

/** Records a migration whose changes are in the same transaction: either both exist or neither does. */
export async function bookFinished(client: Client, { name, checksum }: MigrationFile, startedAt: Date): Promise<void> {
  await client.query(
    `INSERT INTO public._prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name, startedAt],
  )
}

/** Records the start of a migration that can't share a transaction with its row; returns the row's id. */
export async function bookStarted(client: Client, { name, checksum }: MigrationFile): Promise<string> {
  const id = randomUUID()
  await client.query(
    'INSERT INTO public._prisma_migrations (id, checksum, migration_name, started_at) VALUES ($1, $2, $3, clock_timestamp())',
    [id, checksum, name],
  )
  return id
}

/** `logs` null: it was applied. Otherwise the error, and the row stays unfinished. */
export async function bookOutcome(client: Client, id: string, logs: string | null): Promise<void> {
  await client.query(
    logs === null
      ? 'UPDATE public._prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1, logs = $2 WHERE id = $1'
      : 'UPDATE public._prisma_migrations SET logs = $2 WHERE id = $1',
    [id, logs],
  )
}

/** Marks an unfinished migration as rolled back, so that it is retried. Returns whether there was one. */
export async function bookRolledBack(client: Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE public._prisma_migrations SET rolled_back_at = clock_timestamp()
     WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
    [name],
  )
  return rowCount === 1
}

/** The version that the tests run on. prisma/functions uses features new in it, such as `min(bytea)`. */
const SUPPORTED_MAJOR = 18

/** Locales of libc that sort text by its bytes, on every machine and permanently. */
const BYTE_ORDER = /^(C|POSIX|C\.UTF-?8)$/i

/**
 * Refuses a server or a database that is not fit to keep money in, before changing anything in it.
 * @throws Error with one sentence that states the resolution
 */
async function refuseUnsupported(client: Client, supportedMajor: number = SUPPORTED_MAJOR): Promise<void> {
  const { rows } = await client.query<{ version: string; major: number; provider: string; locale: string | null }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int / 10000 AS major,
            datlocprovider AS provider, CASE datlocprovider WHEN 'c' THEN datcollate ELSE datlocale END AS locale
       FROM pg_database WHERE datname = current_database()`,
  )
  const { version, major, provider, locale } = rows[0]!
  if (major !== supportedMajor) {
    throw new Error(
      `This is Postgres ${version}, and the service works on Postgres ${supportedMajor} alone: ` +
        `bring the server to version ${supportedMajor}, then migrate again (docs/operating.md, "Postgres").`,
    )
  }
  if (provider === 'b' || (provider === 'c' && BYTE_ORDER.test(locale ?? ''))) return
  throw new Error(
    `This database orders text by the rules of ${locale}, which change with the operating system and then break indexes of money: ` +
      `make it again with CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C', then migrate again (docs/operating.md, "Postgres").`,
  )
}
