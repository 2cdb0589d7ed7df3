import { liveTest } from '@gateway/testbed/live-test'
import { startCluster, startSentinelGroup } from '@gateway/testbed/redis-groups'
import { expect } from 'vitest'
import { openNotifier, type Notifier } from './notifier.ts'

// The notifier on what stands in for one Redis where Redis must not be one server.

const test = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('open', ({}, { onCleanup }) => {
    const opened: Notifier[] = []
    onCleanup(async () => void (await Promise.all(opened.map((notifier) => notifier.close()))))
    return (redisUrl: string) => {
      const notifier = openNotifier({ redisUrl })
      opened.push(notifier)
      return notifier
    }
  })

/** Resolves at the next ring; says it again and again until it is heard, since a ring may be lost. */
async function rungThrough(from: Notifier, to: Notifier): Promise<void> {
  let rung = 0
  const stop = to.listen('topic', () => rung++)
  const before = rung
  await expect
    .poll(
      () => {
        from.notify('topic')
        return rung
      },
      { timeout: 20_000, interval: 20 },
    )
    .toBeGreaterThan(before + 1) // one tells only that it can be heard again
  stop()
}

test('a ring is heard through the master that takes the place of a dead one', async ({ open, onTestFinished }) => {
  const sentinels = await startSentinelGroup()
  onTestFinished(sentinels.stop)
  const [one, other] = [open(sentinels.url), open(sentinels.url)]
  await rungThrough(one, other)
  await sentinels.killMaster()
  await rungThrough(one, other)
})

test('a ring is heard through a Cluster', async ({ open, onTestFinished }) => {
  const cluster = await startCluster()
  onTestFinished(cluster.stop)
  await rungThrough(open(cluster.url), open(cluster.url))
})
