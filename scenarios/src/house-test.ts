import { liveTest } from '@gateway/testbed/live-test'
import { openHouse } from './house.ts'

/** `test` with the whole service, two gateways and two ledgers, shared by the tests of a file. */
export const houseTest = liveTest.extend('house', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
  const house = await openHouse({
    adminUrl: database.adminUrl,
    ledgerUrl: database.ledgerUrl,
    consoleUrl: database.consoleUrl,
    redisUrl: redis.url,
    ledgers: 2,
    gateways: 2,
    workers: 1,
  })
  onCleanup(house.close)
  return house
})
