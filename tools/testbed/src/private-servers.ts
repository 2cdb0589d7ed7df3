import { migrate } from '@gateway/database/migrate'
import { startPostgres, type EmbeddedPostgres } from '@gateway/local-stack/embedded-postgres'
import { startRedis, type EmbeddedRedis } from '@gateway/local-stack/embedded-redis'
import { serviceUrls, temporaryFolder, type TestServers } from './test-servers.ts'

/** A migrated Postgres server, with the logins of the services. */
export type PrivatePostgres = EmbeddedPostgres & Omit<TestServers, 'redisUrl'>

/** Starts a separate temporary, migrated Postgres server, for tests that stop or kill it. `stop` removes it. */
export async function privatePostgres(): Promise<PrivatePostgres> {
  const server = await startPostgres({ dataFolder: await temporaryFolder('postgres'), persistent: false, fast: true })
  try {
    await migrate({ url: server.url, log: () => {} })
    return Object.assign(server, await serviceUrls(server.url))
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Starts a separate temporary Redis server, for tests that flush, stop or kill it. `stop` removes it. */
export async function privateRedis(): Promise<EmbeddedRedis> {
  return startRedis({ dataFolder: await temporaryFolder('redis'), persistent: false })
}
