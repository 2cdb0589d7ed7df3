import { onceAWorker } from '@gateway/testbed/stack-test'
import { privatePostgres, privateRedis } from '@gateway/testbed/private-servers'
import { test } from 'vitest'
import { startBalancer } from './balancer.ts'
import { openStack } from './stack.ts'

const shared = onceAWorker(
  async () => {
    const [postgresServer, redisServer] = [await privatePostgres(), await privateRedis()]
    const [ledgers, consoles] = [replicas(2), replicas(2)]
    const stack = await openStack({
      ...postgresServer,
      redisUrl: redisServer.url,
      ledgers: 2,
      gateways: 2,
      workers: 2,
      consoles: 2,
      environment: {
        gateway: () => ({ MAX_FOLLOWERS_PER_KEY: '64' }), // one key follows as much as there is
        // For one worker each node is a job, as by default; the other one chains free nodes (N6 of run-node.ts).
        worker: (n) => ({ NODE_SLICE_MS: n === 0 ? '0' : '200' }),
      },
      through: ledgers.add,
      consolesAt: (urls) => Promise.all(urls.map(consoles.add)).then(([address]) => address!),
    })
    const stop = async () => {
      await stack.close()
      await ledgers.stop()
      await consoles.stop()
      await redisServer.stop()
      await postgresServer.stop()
    }
    return { postgresServer, redisServer, stack, stop }
  },
  ({ stop }) => stop(),
)

/** A balancer URL for `count` replicas, resolved once all of them have been added. */
function replicas(count: number) {
  const urls = new Set<string>()
  const balancer = Promise.withResolvers<Awaited<ReturnType<typeof startBalancer>>>()
  return {
    async add(url: string): Promise<string> {
      const isNew = !urls.has(url)
      urls.add(url)
      if (isNew && urls.size === count) balancer.resolve(startBalancer([...urls]))
      return (await balancer.promise).url
    },
    stop: async () => (await balancer.promise).stop(),
  }
}

/**
 * `test` with the whole service in processes on a private Postgres and Redis, for tests that kill, replace and restart any of them: two
 * ledgers and two consoles, each pair behind one URL, two gateways and two workers. Shared by all files of a vitest worker.
 */
export const harmedStackTest = test
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('shared', { scope: 'worker' }, ({}, { onCleanup }) => {
    onCleanup(shared.close)
    return shared.open()
  })
  .extend('postgresServer', ({ shared }) => shared.postgresServer)
  .extend('redisServer', ({ shared }) => shared.redisServer)
  .extend('stack', async ({ shared: { stack } }, { onCleanup }) => {
    onCleanup(() => stack.provider.control.clearFaults())
    await stack.provider.control.clearCalls()
    return stack
  })
