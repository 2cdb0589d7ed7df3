import { freshDatabase } from '@gateway/testbed/fresh-database'
import { freshRedis } from '@gateway/testbed/fresh-redis'
import { liveTest } from '@gateway/testbed/live-test'
import { startServices } from '@gateway/testbed/service-stack'
import { connectStack } from './stack.ts'

/** Nobody is there: the page of a call has a link to it. */
export const TRACE_URL = 'https://traces.example.com/search?tags={"service.invocation":"{invocation}"}'

/**
 * `test` with the whole service: two ledgers, three gateways, two workers and the console, started for the file and
 * stopped at its end: what ran on would take the processors from the files after it. Each test makes a tenant of its own,
 * and asks the books about that one only. Whoever needs a part to stay dead, an environment or a server of their own
 * takes `openStack`.
 */
export const stackTest = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('services', { scope: 'file' }, async ({}, { onCleanup }) => {
    const [database, redis] = [await freshDatabase(), await freshRedis()]
    const services = await startServices({
      ...database,
      redisUrl: redis.url,
      ledgers: 2,
      gateways: 3,
      workers: 2,
      environment: { console: () => ({ TRACE_URL }) },
    })
    onCleanup(async () => {
      await services.stop()
      await redis.drop()
      await database.drop()
    })
    return { ...services, database }
  })
  .extend('stack', { scope: 'file' }, async ({ services }, { onCleanup }) => {
    const stack = await connectStack(services, services.database)
    onCleanup(stack.close)
    return stack
  })
