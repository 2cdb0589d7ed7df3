import { liveTest } from '@gateway/testbed/live-test'
import { openStack } from '../stack.ts'
import { openStudio } from './studio.ts'

/** `test` with the whole service, three gateways, two ledgers and two workers, and a project with flows, shared by a file. */
export const studioTest = liveTest
  .extend('gatewayEnvironment', { scope: 'file' }, (): Record<string, string> => ({}))
  .extend('stack', { scope: 'file' }, async ({ database, redis, gatewayEnvironment }, { onCleanup }) => {
    const stack = await openStack({
      adminUrl: database.adminUrl,
      ledgerUrl: database.ledgerUrl,
      redisUrl: redis.url,
      ledgers: 2,
      gateways: 3,
      workers: 2,
      environment: { gateway: () => gatewayEnvironment },
    })
    onCleanup(stack.close)
    return stack
  })
  .extend('studio', { scope: 'file' }, ({ stack }) => openStudio(stack))
