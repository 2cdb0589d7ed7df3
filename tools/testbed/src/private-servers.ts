import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { migrate } from '@gateway/database/migrate'
import { startPostgres } from '@gateway/local-stack/embedded-postgres'
import { startRedis } from '@gateway/local-stack/embedded-redis'
import { containersWanted, startPostgresContainer, startRedisContainer, type PrivateServer } from './containers.ts'
import { standStill } from './stand-still.ts'
import { serviceUrls, temporaryFolder, type TestServers } from './test-servers.ts'

// In containers if TEST_CONTAINERS=1, else embedded.

/** A migrated Postgres server, with the logins of the services. */
export type PrivatePostgres = PrivateServer & Omit<TestServers, 'redisUrl'>
export type PrivateRedis = Pick<PrivateServer, 'url' | 'stop' | 'stopImmediately' | 'restart'>

/**
 * Starts a separate temporary, migrated Postgres server, for tests that stop or kill it. `stop` removes it.
 * @param fast see `PostgresOptions`; in a container it always is
 */
export async function privatePostgres({ fast = true } = {}): Promise<PrivatePostgres> {
  const server = containersWanted() ? await startPostgresContainer() : await embeddedPostgres(fast)
  try {
    await migrate({ url: server.url, log: () => {} })
    return Object.assign(server, await serviceUrls(server.url))
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Starts a separate temporary Redis server, for tests that flush, stop or kill it. `stop` removes it. */
export async function privateRedis(): Promise<PrivateRedis> {
  if (containersWanted()) return startRedisContainer({ databases: 16 })
  return startRedis({ dataFolder: await temporaryFolder('redis'), persistent: false })
}

async function embeddedPostgres(fast: boolean): Promise<PrivateServer> {
  const dataFolder = await temporaryFolder('postgres')
  const server = await startPostgres({ dataFolder, persistent: false, fast })
  return Object.assign(server, {
    kill: async () => {
      process.kill(server.pid, 'SIGKILL')
      await server.ended
    },
    pause: (ms: number) => standStill([server.pid], ms),
    log: () => readFile(path.join(dataFolder, 'postgres.log'), 'utf8'),
  })
}
