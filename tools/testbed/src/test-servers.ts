import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { withDatabase } from '@gateway/database/client'
import { migrate } from '@gateway/database/migrate'
import { ensureRoles } from '@gateway/database/roles'
import { startPostgres } from '@gateway/local-stack/embedded-postgres'
import { startRedis } from '@gateway/local-stack/embedded-redis'
import { ask } from './ask.ts'
import { startPostgresContainer, startRedisContainer, type RunningServer } from './containers.ts'

/** Connection details for every test file. The database in each Postgres URL is the template. */
export interface TestServers {
  adminUrl: string
  ledgerUrl: string
  consoleUrl: string
  redisUrl: string
}

export interface ServerChoice {
  /** A Postgres and a Redis that already run. Only our own databases and keys are touched. */
  databaseUrl?: string | undefined
  redisUrl?: string | undefined
  /** Uses containers even if embedded servers would work. */
  containers: boolean
  log: (line: string) => void
}

/**
 * Starts the servers for live tests, once for a whole run: Postgres with a migrated template database and the services'
 * logins, and Redis. Given URLs take precedence, then embedded servers, then containers.
 */
export async function startTestServers(choice: ServerChoice): Promise<TestServers & { stop: () => Promise<void> }> {
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const each of stops.splice(0).toReversed()) await each()
  }
  try {
    const [postgres, redis] = await Promise.allSettled([postgresServer(choice), redisServer(choice)])
    for (const server of [postgres, redis]) if (server.status === 'fulfilled') stops.push(server.value.stop)
    if (postgres.status === 'rejected') throw postgres.reason
    if (redis.status === 'rejected') throw redis.reason
    const template = await makeTemplate(postgres.value.url)
    stops.push(template.drop)
    return { ...template.urls, redisUrl: redis.value.url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function postgresServer({ databaseUrl, containers, log }: ServerChoice): Promise<RunningServer> {
  if (databaseUrl) return { url: databaseUrl, stop: async () => {} }
  if (containers) return startPostgresContainer()
  try {
    return await startPostgres({ dataFolder: await temporaryFolder('postgres'), persistent: false, fast: true })
  } catch (error) {
    log(`No embedded Postgres, trying a container. ${String(error)}`)
    return startPostgresContainer()
  }
}

/** A service that hangs is killed after 20 s. */
const LAST_STOP_MS = 40_000
/** Enough for one per test file. */
const REDIS_DATABASES = 1_000

async function redisServer({ redisUrl, containers, log }: ServerChoice): Promise<RunningServer> {
  if (redisUrl) return { url: redisUrl, stop: async () => {} }
  if (containers) return startRedisContainer({ databases: REDIS_DATABASES })
  try {
    const dataFolder = await temporaryFolder('redis')
    return await startRedis({ dataFolder, persistent: false, databases: REDIS_DATABASES, log })
  } catch (error) {
    log(`No embedded Redis, trying a container. ${String(error)}`)
    return startRedisContainer({ databases: REDIS_DATABASES })
  }
}

/** A folder that only this process uses. The end of a test run removes it, unless the caller has. */
export function temporaryFolder(name: string): Promise<string> {
  return mkdtemp(path.join(tmpdir(), `svc-test-${process.env.TEST_RUN ?? process.pid}-${name}-`))
}

/** Removes what the tests of this run left: logs of the services that they started in their own process, mostly. */
export async function removeTemporaryFolders(): Promise<void> {
  const mine = (await readdir(tmpdir())).filter((name) => name.startsWith(`svc-test-${process.env.TEST_RUN}-`))
  for (const name of mine) await rm(path.join(tmpdir(), name), { recursive: true, force: true })
}

async function makeTemplate(
  serverUrl: string,
): Promise<{ urls: Omit<TestServers, 'redisUrl'>; drop: () => Promise<void> }> {
  const name = `svc_template_${randomBytes(4).toString('hex')}`
  const adminUrl = withDatabase(serverUrl, name)
  await migrate({ url: adminUrl, log: () => {} })
  const urls = await serviceUrls(adminUrl)
  // A template can't be copied while a session is connected to it.
  await onServer(serverUrl, `ALTER DATABASE ${name} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`)
  const drop = async () => {
    await untilCopiesAreDropped(serverUrl, name)
    await onServer(serverUrl, `ALTER DATABASE ${name} WITH IS_TEMPLATE false`)
    await onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)
  }
  return { urls, drop }
}

/**
 * vitest ends its workers during this teardown, and their services need the servers until they have stopped. Drops the
 * databases that killed workers left behind.
 */
async function untilCopiesAreDropped(serverUrl: string, template: string): Promise<void> {
  const server = withDatabase(serverUrl, 'postgres')
  const copies = `SELECT datname FROM pg_database WHERE starts_with(datname, $1)`
  for (const start = performance.now(); ; await setTimeout(50)) {
    const left = await ask(server, copies, [copyOf(template)])
    if (left.length === 0) return
    if (performance.now() - start < LAST_STOP_MS) continue
    for (const { datname } of left) await onServer(serverUrl, `DROP DATABASE ${datname} WITH (FORCE)`)
  }
}

/** Prefix of the names of the template's copies. */
export function copyOf(template: string): string {
  return `${template}_copy_`
}

/**
 * Creates the services' logins on a migrated database. The passwords are fixed: a given server may serve several
 * concurrent runs.
 */
export async function serviceUrls(adminUrl: string): Promise<Omit<TestServers, 'redisUrl'>> {
  const { ledger, console } = await ensureRoles(adminUrl, { ledger: 'ledger-in-tests', console: 'console-in-tests' })
  return { adminUrl, ledgerUrl: ledger, consoleUrl: console }
}

/** Runs one statement in the server's own database, outside a transaction. */
export async function onServer(url: string, sql: string): Promise<void> {
  await ask(withDatabase(url, 'postgres'), sql)
}
