import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/client.ts'
import { openLimitedPool } from './limited-pool.ts'
import { openSql, type SqlPool, statementNames } from './sql.ts'

export { Prisma, type PrismaClient } from './generated/client.ts'
export type { Sql, SqlPool } from './sql.ts'

export interface DatabaseOptions {
  url: string
  /** Maximum number of connections. They are kept open, so that a lone caller doesn't wait for one. */
  poolSize: number
  /**
   * Time after which a query is cancelled. A silent connection is given up a second later; whether the query was
   * executed is then unknown. Default 10000.
   */
  queryLimitMs?: number
  /** Waits until the caller may take a connection. Returns the function to call when it has given it back. */
  takeTurn?: () => Promise<() => void>
  /** The service, as Postgres shows it (`application_name`): `svc-<role>`. */
  role?: string
  /**
   * Prepares each statement once per connection. Turn off for a PgBouncer without support for prepared statements.
   * Default true.
   */
  preparedStatements?: boolean
  /** Called when an idle connection breaks before `close`. The pool replaces it by itself. */
  onConnectionLost?: (error: Error) => void
  /**
   * Called after a connection was given up because it was silent. By then the idle connections of this pool are
   * replaced.
   */
  onSilence?: () => void
}

export interface Database {
  prisma: PrismaClient
  /** The same connections without Prisma, for frequent queries. */
  sql: SqlPool
  /** Waits for the queries in flight and closes the connections. */
  close: () => Promise<void>
  /** Replaces the idle connections. Call this if another pool to the same server had a silent connection. */
  renewIdle: () => void
}

const QUERY_LIMIT_MS = 10_000
const CONNECT_MS = 3_000
/**
 * A connection without traffic is probed after this time, then every second, and is lost after ten unanswered probes.
 */
const PROBE_AFTER_MS = 5_000

/**
 * Opens a pool with a Prisma client on it, and checks that the database responds. Sessions are in UTC: the driver
 * adapter writes times without an offset and reads them as UTC, regardless of the server's offset. Throws one readable
 * message, without the password, if the database can't be used.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, poolSize, queryLimitMs = QUERY_LIMIT_MS, role, preparedStatements = true } = options
  const { onSilence = () => {} } = options
  let isClosing = false
  const onConnectionLost = (error: Error) => {
    if (!isClosing) options.onConnectionLost?.(error)
  }
  const { pool, renewIdle } = openLimitedPool({
    queryLimitMs,
    onSilence,
    takeTurn: options.takeTurn,
    connectionString: url,
    max: poolSize,
    min: poolSize,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER_MS,
    application_name: role ? `svc-${role}` : 'svc',
    options: '-c TimeZone=UTC', // one of the settings that PgBouncer supports
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
    if (session.zone !== 'UTC') throw new Error(`its sessions use the time zone ${session.zone} instead of UTC`)
  } catch (error) {
    await prisma.$disconnect()
    const reason = error instanceof Error ? error.message.trim() : String(error)
    throw new Error(`Postgres can't be used as ${describeUrl(url)}: ${reason}`, { cause: error })
  }
  async function close(): Promise<void> {
    isClosing = true
    await prisma.$disconnect()
  }
  return { prisma, sql: openSql(pool, nameOf), close, renewIdle }
}

/** The same server and login, another database. */
export function withDatabase(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${encodeURIComponent(database)}`
  return changed.href
}

/** The same server and database, another login. */
export function withLogin(url: string, user: string, password: string): string {
  const changed = new URL(url)
  changed.username = encodeURIComponent(user)
  changed.password = encodeURIComponent(password)
  return changed.href
}

/** The same login and database at another address. */
export function withAddress(url: string, { host, port }: { host: string; port: number }): string {
  const changed = new URL(url)
  changed.hostname = host
  changed.port = String(port)
  return changed.href
}

/** The database of a URL; the name of the user if it has none, as in Postgres. */
export function databaseOf(url: string): string {
  const { pathname, username } = new URL(url)
  return decodeURIComponent(pathname.slice(1) || username)
}

/** A URL for messages: user, server and database, never the password. */
export function describeUrl(url: string): string {
  const { username, host } = new URL(url)
  return `${decodeURIComponent(username)}@${host}/${databaseOf(url)}`
}
