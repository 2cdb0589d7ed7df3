import { expect } from 'vitest'
import { newJob, queueTest as test } from './fixtures/queue-in-test.ts'
import { openQueueDepth } from './node-queue.ts'

test('reports the number of waiting jobs and the age of the oldest', async ({ open, address, onTestFinished }) => {
  const later = 90_000
  const depth = openQueueDepth({ redisUrl: address.url, prefix: address.prefix, now: () => Date.now() + later })
  onTestFinished(depth.close)
  await expect.poll(depth.read).toEqual({ waiting: 0, oldestMs: 0 })

  await open.queue(address).enqueue([newJob(), newJob(), newJob()])
  const full = await depth.read()
  expect(full?.waiting).toBe(3)
  expect(full?.oldestMs).toBeGreaterThanOrEqual(later)
  expect(full?.oldestMs).toBeLessThan(later + 60_000)

  const worker = open.worker(address)
  const run = await worker.next()
  await expect.poll(async () => (await depth.read())?.waiting).toBe(2) // the running job does not count
  run.finish()
})

test('reports null instead of zero while Redis is down', async ({ redisServer, onTestFinished }) => {
  const depth = openQueueDepth({ redisUrl: redisServer.url, now: Date.now })
  onTestFinished(depth.close)
  await expect.poll(depth.read).not.toBeNull()
  await redisServer.stopImmediately()
  await expect.poll(depth.read).toBeNull()
})
