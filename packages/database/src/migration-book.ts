import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { MigrationFile } from './migration-files.ts'

// The lock and the table are Prisma's own, so that `prisma migrate deploy` and this runner keep one book.
const prismaLock = 72_707_369

export interface BookedMigration {
  migration_name: string
  checksum: string
  finished_at: Date | null
  rolled_back_at: Date | null
  logs: string | null
}

/** Waits until no other migration runs on this database; the lock is held until the connection ends. */
export async function lockBook(client: Client, log: (line: string) => void): Promise<void> {
  const { rows } = await client.query<{ got: boolean }>('SELECT pg_try_advisory_lock($1) AS got', [prismaLock])
  if (!rows[0]?.got) {
    log('Another process is migrating this database: waiting for it')
    await client.query('SELECT pg_advisory_lock($1)', [prismaLock])
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

/** What stands in the book, less what was rolled back. */
export async function readBook(client: Client): Promise<Map<string, BookedMigration>> {
  const { rows } = await client.query<BookedMigration>(
    `SELECT migration_name, checksum, finished_at, rolled_back_at, logs
     FROM public._prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
  )
  return new Map(rows.map((row) => [row.migration_name, row]))
}

/** Books a migration whose changes are in the same transaction: both are there or neither is. */
export async function bookFinished(client: Client, { name, checksum }: MigrationFile, startedAt: Date): Promise<void> {
  await client.query(
    `INSERT INTO public._prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name, startedAt],
  )
}

/** Books the start of a migration that can't be in one transaction with its row; answers the row's id. */
export async function bookStarted(client: Client, { name, checksum }: MigrationFile): Promise<string> {
  const id = randomUUID()
  await client.query(
    'INSERT INTO public._prisma_migrations (id, checksum, migration_name, started_at) VALUES ($1, $2, $3, clock_timestamp())',
    [id, checksum, name],
  )
  return id
}

/** `logs` null: it was applied. Else what went wrong, and the row stays unfinished. */
export async function bookOutcome(client: Client, id: string, logs: string | null): Promise<void> {
  await client.query(
    logs === null
      ? 'UPDATE public._prisma_migrations SET finished_at = clock_timestamp(), applied_steps_count = 1, logs = $2 WHERE id = $1'
      : 'UPDATE public._prisma_migrations SET logs = $2 WHERE id = $1',
    [id, logs],
  )
}

/** Takes an unfinished migration back, so that it is tried again. Answers whether there was one. */
export async function bookRolledBack(client: Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE public._prisma_migrations SET rolled_back_at = clock_timestamp()
     WHERE migration_name = $1 AND finished_at IS NULL AND rolled_back_at IS NULL`,
    [name],
  )
  return rowCount === 1
}
