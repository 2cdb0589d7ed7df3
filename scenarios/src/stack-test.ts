import { liveTest } from '@gateway/testbed/live-test'
import { openStack } from './stack.ts'

/** `test` with the whole service, two gateways and two ledgers, shared by the tests of a file. */
export const stackTest = liveTest.extend('stack', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
  const stack = await openStack({
    adminUrl: database.adminUrl,
    ledgerUrl: database.ledgerUrl,
    consoleUrl: database.consoleUrl,
    redisUrl: redis.url,
    ledgers: 2,
    gateways: 2,
    workers: 1,
  })
  onCleanup(stack.close)
  return stack
})
