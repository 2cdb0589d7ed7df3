import { migrate } from '@gateway/database/migrate'
import { Redis } from 'ioredis'
import { expect, test } from 'vitest'
import { containersAvailable, startPostgresContainer, startRedisContainer } from './containers.ts'

const engine = await containersAvailable()

test.runIf(engine)(
  'Postgres in a container accepts the migrations, if a Docker engine has the image',
  { timeout: 300_000 },
  async () => {
    const postgres = await startPostgresContainer()
    try {
      expect((await migrate({ url: postgres.url, log: () => {} })).length).toBeGreaterThan(0)
    } finally {
      await postgres.stop()
    }
  },
)

test.runIf(engine)(
  'Redis in a container responds, if a Docker engine has the image',
  { timeout: 300_000 },
  async () => {
    const server = await startRedisContainer()
    const redis = new Redis(server.url)
    expect(await redis.ping()).toBe('PONG')
    redis.disconnect()
    await server.stop()
  },
)
