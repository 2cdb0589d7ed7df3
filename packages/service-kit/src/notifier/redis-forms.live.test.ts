import { liveTest } from '@gateway/testbed/live-test'
import { startCluster, startSentinelGroup } from '@gateway/testbed/redis-groups'
import { expect } from 'vitest'
import { openNotifier, type Notifier } from './notifier.ts'

// The notifier on the alternatives to a single Redis server.

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

/** Resolves once notifications arrive; repeats them, since one may be lost. */
async function notifiedThrough(from: Notifier, to: Notifier): Promise<void> {
  let received = 0
  const stop = to.subscribe('topic', () => received++)
  const before = received
  await expect
    .poll(
      () => {
        from.notify('topic')
        return received
      },
      { timeout: 20_000, interval: 20 },
    )
    .toBeGreaterThan(before + 1) // the first only means that it is subscribed again
  stop()
}

test('a notification arrives through the master that replaces a dead one', async ({ open, onTestFinished }) => {
  const sentinels = await startSentinelGroup()
  onTestFinished(sentinels.stop)
  const [one, other] = [open(sentinels.url), open(sentinels.url)]
  await notifiedThrough(one, other)
  await sentinels.killMaster()
  await notifiedThrough(one, other)
})

test('a notification arrives through a Cluster', async ({ open, onTestFinished }) => {
  const cluster = await startCluster()
  onTestFinished(cluster.stop)
  await notifiedThrough(open(cluster.url), open(cluster.url))
})
