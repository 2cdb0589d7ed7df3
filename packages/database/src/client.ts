import { PrismaPg } from '@prisma/adapter-pg'
import { describeUrl } from './database-url.ts'
import { PrismaClient } from './generated/client.ts'
import { openLimitedPool } from './limited-pool.ts'
import { openSql, type SqlPool, statementNames } from './sql.ts'

export { Prisma, type PrismaClient } from './generated/client.ts'
export type { Sql, SqlPool } from './sql.ts'

export interface DatabaseOptions {
  url: string
  /** Connections at most. They are kept open, so that a lone caller doesn't wait for one. */
  poolSize: number
  /**
   * How long a query may take before it is cancelled. A connection that is silent is given up a second later, and it then
   * is not known whether the query was carried out. Default 10000.
   */
  queryLimitMs?: number
  /** Who works here, as Postgres shows it (`application_name`): `svc-<role>`. */
  role?: string
  /** Prepare each statement once per connection. Off for a PgBouncer that doesn't know prepared statements. Default true. */
  preparedStatements?: boolean
  /** Called when an idle connection breaks. The pool replaces it by itself. */
  onConnectionLost?: (error: Error) => void
  /** Called when a connection was given up because it was silent. The idle connections of this pool are replaced by then. */
  onSilence?: () => void
}

export interface Database {
  prisma: PrismaClient
  /** The same connections past Prisma: for what is asked often. */
  sql: SqlPool
  /** Waits for the queries under way and closes the connections. */
  close: () => Promise<void>
  /** Replaces the connections that no one uses now: to be called when another pool to the same server met silence. */
  renewIdle: () => void
}

const QUERY_LIMIT_MS = 10_000
const CONNECT_MS = 3_000
/** A connection on which nothing comes is probed after this, each second, and is lost after ten probes without an answer. */
const PROBE_AFTER_MS = 5_000

/**
 * Opens a pool and the Prisma client on it, and proves that the database answers. Sessions are in UTC: the driver
 * adapter writes times without an offset and reads them as UTC, no matter what the server sent. Throws one readable
 * message, without the password, if the database can't be used.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, poolSize, queryLimitMs = QUERY_LIMIT_MS, role, preparedStatements = true } = options
  const { onConnectionLost = () => {}, onSilence = () => {} } = options
  const { pool, renewIdle } = openLimitedPool({
    queryLimitMs,
    onSilence,
    connectionString: url,
    max: poolSize,
    min: poolSize,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    application_name: role ? `svc-${role}` : 'svc',
    options: '-c TimeZone=UTC', // one of the settings that PgBouncer follows
  })
  pool.on('error', onConnectionLost)
  const nameOf = preparedStatements ? statementNames() : null
  const adapter = new PrismaPg(pool, {
    disposeExternalPool: true,
    onConnectionError: onConnectionLost,
    ...(nameOf ? { statementNameGenerator: nameOf } : {}),
  })
  const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' })
  try {
    const [session] = await prisma.$queryRaw<[{ zone: string }]>`SELECT current_setting('TimeZone') AS zone`
    if (session.zone !== 'UTC') throw new Error(`its sessions are in ${session.zone} and not in UTC`)
  } catch (error) {
    await prisma.$disconnect()
    const reason = error instanceof Error ? error.message.trim() : String(error)
    throw new Error(`Postgres can't be used as ${describeUrl(url)}: ${reason}`, { cause: error })
  }
  return { prisma, sql: openSql(pool, nameOf), close: () => prisma.$disconnect(), renewIdle }
}
