import { freshDatabase } from '@gateway/testbed/fresh-database'
import { freshRedis } from '@gateway/testbed/fresh-redis'
import { liveTest } from '@gateway/testbed/live-test'
import { onceAWorker } from '@gateway/testbed/stack-test'
import { openServices } from '@gateway/testbed/service-stack'
import { connectStack } from './stack.ts'

/** Trace link of call pages. Nothing listens there. */
export const TRACE_URL = 'https://traces.example.com/search?tags={"service.invocation":"{invocation}"}'

const shared = onceAWorker(
  async () => {
    const [database, redis] = [await freshDatabase(), await freshRedis()]
    const services = await openServices({
      ...database,
      redisUrl: redis.url,
      ledgers: 2,
      gateways: 3,
      workers: 2,
      processes: ['gateway-2'],
      // All browsers and clients of a worker process share one address.
      environment: { console: () => ({ TRACE_URL, REQUESTS_PER_ADDRESS: '100000' }) },
    })
    const stack = await connectStack(services, database)
    const stop = async () => {
      await stack.close()
      await services.stop()
      await redis.drop()
      await database.drop()
    }
    return { services: { ...services, database }, stack, stop }
  },
  ({ stop }) => stop(),
)

/**
 * `test` with the whole service: two ledgers, three gateways, two workers and the console, shared by all files of a vitest worker. The
 * third gateway is a process, for tests that kill it. Each test creates its own tenant and checks the books of that tenant only. A test
 * that kills another service, or needs other settings or servers, opens its own stack.
 */
export const stackTest = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('shared', { scope: 'worker' }, ({}, { onCleanup }) => {
    onCleanup(shared.close)
    return shared.open()
  })
  .extend('services', { scope: 'worker' }, ({ shared }) => shared.services)
  .extend('stack', { scope: 'worker' }, ({ shared }) => shared.stack)
  .extend('quietProvider', { scope: 'file', auto: true }, ({ services }, { onCleanup }) => {
    const { control } = services.provider
    onCleanup(async () => {
      await control.clearFaults()
      await control.release()
    })
  })
