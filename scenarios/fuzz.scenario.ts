import { expect, onTestFinished } from 'vitest'
import { fuzz } from '@gateway/fuzz/fuzz'
import { openFuzzStack } from '@gateway/fuzz/fuzz-stack'
import { liveTest } from '@gateway/testbed/live-test'

// A short run of `npm run fuzz`, without its claims of time.

liveTest('hostile requests find no server error and leave the books equal', async ({ database, redis }) => {
  const stack = await openFuzzStack({ ...database, redisUrl: redis.url })
  onTestFinished(stack.stop)
  const report = await fuzz({ requests: 2_000, seed: 1, seconds: 150 }, { stack, log: () => {} })
  expect([...report.findings.values()].filter(({ kind }) => kind !== 'slow')).toEqual([])
  expect([report.books, report.ended, report.sent]).toEqual([[], [], 2_000])
})
