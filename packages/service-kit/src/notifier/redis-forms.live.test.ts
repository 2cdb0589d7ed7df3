import { liveTest } from '@gateway/testbed/live-test'
import { startCluster, startSentinelGroup } from '@gateway/testbed/redis-groups'
import { expect } from 'vitest'
import { openNotifier, type Notifier } from './notifier.ts'

// The notifier on what is in for one Redis where Redis must not be one server.

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

/** Resolves once notifications pass; notifies again and again, since one may be lost. */
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
    .toBeGreaterThan(before + 1) // the first says only that it is subscribed again
  stop()
}

test('a notification passes through the master that takes the place of a dead one', async ({
  open,
  onTestFinished,
}) => {
  const sentinels = await startSentinelGroup()
  onTestFinished(sentinels.stop)
  const [one, other] = [open(sentinels.url), open(sentinels.url)]
  await notifiedThrough(one, other)
  await sentinels.killMaster()
  await notifiedThrough(one, other)
})

test('a notification passes through a Cluster', async ({ open, onTestFinished }) => {
  const cluster = await startCluster()
  onTestFinished(cluster.stop)
  await notifiedThrough(open(cluster.url), open(cluster.url))
})
