import { freshDatabase } from '@gateway/testbed/fresh-database'
import { freshRedis } from '@gateway/testbed/fresh-redis'
import { liveTest } from '@gateway/testbed/live-test'
import { startServices, type ServiceStack } from '@gateway/testbed/service-stack'
import { connectStack } from './stack.ts'

/**
 * `test` with the whole service: two ledgers, three gateways, two workers and the console, started once for all scenario
 * files of a worker. A file finds it with every part running and a provider without faults or remembered calls; each test
 * makes a tenant of its own, and asks the books about that one only. Whoever needs a part to stay dead, an environment or
 * a server of their own takes `openStack`.
 */
export const stackTest = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('services', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const [database, redis] = [await freshDatabase(), await freshRedis()]
    onCleanup(async () => {
      await redis.drop()
      await database.drop()
    })
    const services = await startServices({ ...database, redisUrl: redis.url, ledgers: 2, gateways: 3, workers: 2 })
    onCleanup(services.stop)
    return { ...services, database }
  })
  .extend('stack', { scope: 'file' }, async ({ services }, { onCleanup }) => {
    await startWhatIsDown(services)
    await services.provider.control.clearFaults()
    await services.provider.control.release()
    await services.provider.control.clearCalls()
    const stack = await connectStack(services, services.database)
    onCleanup(stack.close)
    return stack
  })

/** What a test of an earlier file has killed and, having failed, not started again. */
async function startWhatIsDown({ ledgers, consoles, gateways, workers }: ServiceStack): Promise<void> {
  for (const program of [...ledgers, ...consoles, ...gateways, ...workers])
    if (!program.isRunning) await program.start()
}
