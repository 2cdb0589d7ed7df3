import { startCluster, startSentinelGroup } from '@gateway/testbed/redis-groups'
import { expect } from 'vitest'
import { newJob, queueTest } from './fixtures/queue-in-test.ts'
import { assertNoEviction, QueueUnavailable } from './node-queue.ts'

// The queue on the alternatives to a single Redis server: Sentinel and Cluster.

const test = queueTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the needed fixtures from the pattern
  .extend('sentinels', async ({}, { onCleanup }) => {
    const group = await startSentinelGroup()
    onCleanup(group.stop)
    return group
  })
  // oxlint-disable-next-line no-empty-pattern -- as above
  .extend('cluster', async ({}, { onCleanup }) => {
    const group = await startCluster()
    onCleanup(group.stop)
    return group
  })

test('runs a job on the new master after a Sentinel failover', async ({ sentinels, open }) => {
  const address = { url: sentinels.url, prefix: '{svc}' }
  await assertNoEviction(sentinels.url)
  const queue = open.queue(address)
  const worker = open.worker(address)
  await queue.enqueue([newJob()])
  ;(await worker.next()).finish()

  await sentinels.killMaster()
  const after = newJob()
  await expect
    .poll(() => queue.enqueue([after]).catch((error: unknown) => error), { timeout: 20_000, interval: 20 })
    .not.toBeInstanceOf(QueueUnavailable)
  const run = await worker.next()
  expect(run.job).toEqual(after)
  run.finish()
})

test('runs jobs on a Redis Cluster, and the worker stops cleanly', async ({ cluster, open }) => {
  const address = { url: cluster.url, prefix: '{svc}' }
  await assertNoEviction(cluster.url)
  const worker = open.worker(address)
  const jobs = [newJob(), newJob(), newJob()]
  await open.queue(address).enqueue(jobs)
  for (const job of jobs) {
    const run = await worker.next()
    expect(run.job).toEqual(job)
    run.finish()
  }
  await worker.stop(1_000)
  expect(worker.troubles).toEqual([])
})
