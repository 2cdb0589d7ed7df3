import { describe, expect } from 'vitest'
import { openNodeQueue } from '@gateway/node-queue/node-queue'
import { Redis } from 'ioredis'
import type { OpenWorker } from './worker-in-process.fixture.ts'
import type { WorkerProcess } from './worker-process.fixture.ts'
import { workerTest } from './worker.fixture.ts'

const SOON = { timeout: 20_000, interval: 50 }

/** @param its `expect` of the test, needed if it runs concurrently */
const isReady = (worker: Pick<OpenWorker | WorkerProcess, 'health'>, its = expect) =>
  its.poll(worker.health, SOON).toEqual({ status: 'ready' })

workerTest(
  'a worker is registered as an instance while it runs, and shuts down cleanly',
  async ({ startWorkerProcess, opened }) => {
    const worker = await startWorkerProcess()
    await isReady(worker)
    const instances = async () =>
      (await opened.fixture.run(`SELECT ended_at FROM money.instances WHERE service = 'worker'`)).rows
    expect(await instances()).toEqual([{ ended_at: null }])
    const messages = () => worker.log().map(({ message }) => message)
    const untilReady = messages() // on a busy machine it also logs waiting for the ledger
    expect(untilReady[0]).toBe('listening')
    worker.signal('SIGTERM')
    expect(await worker.ended).toBe(0)
    expect(messages().slice(untilReady.length)).toEqual(['stopping', 'stopped'])
    expect(await instances()).toEqual([{ ended_at: expect.any(Date) as Date }])
  },
)

// Concurrent: each waits several seconds, for resources it does not share.
describe.concurrent('readiness', () => {
  workerTest(
    'fails with a reason while Redis may evict keys',
    async ({ startWorker, redisServer, onTestFinished, expect }) => {
      const worker = await startWorker()
      await isReady(worker, expect)
      const redis = new Redis(redisServer.url)
      onTestFinished(() => redis.disconnect())
      await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
      expect(await worker.health()).toEqual({
        status: 'not ready',
        reasons: { redis: 'evicts keys (allkeys-lru); set maxmemory-policy to noeviction' },
      })
      await redis.config('SET', 'maxmemory-policy', 'noeviction')
      expect(await worker.health()).toEqual({ status: 'ready' })
    },
  )

  workerTest(
    'fails while Redis is down, and recovers when it returns',
    async ({ startWorker, redisServer, expect }) => {
      const worker = await startWorker()
      await isReady(worker, expect)
      await redisServer.stopImmediately()
      await expect.poll(worker.health, SOON).toEqual({
        status: 'not ready',
        reasons: { redis: 'does not answer', queue: 'has not been polled for 10 seconds' },
      })
      await redisServer.restart()
      await isReady(worker, expect)
    },
  )

  workerTest(
    'fails while the ledger is unreachable, and recovers when it returns',
    async ({ startWorker, proxy, expect }) => {
      const worker = await startWorker()
      await isReady(worker, expect)
      await proxy.down()
      await expect.poll(worker.health, SOON).toEqual({
        status: 'not ready',
        reasons: { ledger: 'has answered no heartbeat for 3 seconds' },
      })
      await proxy.up()
      await isReady(worker, expect)
    },
  )
})

workerTest('a worker that starts before its ledger waits for it', async ({ startWorker, proxy }) => {
  await proxy.down()
  const worker = await startWorker()
  expect(await worker.health()).toEqual({ status: 'starting' })
  await proxy.up()
  await isReady(worker)
})

workerTest('a worker that waits for its ledger exits on SIGTERM', async ({ startWorkerProcess, proxy }) => {
  await proxy.down()
  const worker = await startWorkerProcess()
  worker.signal('SIGTERM')
  expect(await worker.ended).toBe(0)
})

workerTest('shuts down in time while ledger and Redis are unreachable', async ({ startWorker, proxy, redisServer }) => {
  const worker = await startWorker()
  await isReady(worker)
  await proxy.down()
  await redisServer.stopImmediately()
  await worker.stop()
  expect(worker.log().at(-1)).toMatchObject({ message: 'stopped', clean: true })
})

workerTest(
  'a job for an unknown node ends without work, each time it is enqueued',
  async ({ startWorker, redisServer, onTestFinished }) => {
    const worker = await startWorker()
    const queue = openNodeQueue({ redisUrl: redisServer.url })
    onTestFinished(() => queue.close())
    const job = { execution: 'exe_1', node: 'draft', attempt: 2 }
    await queue.enqueue([job])
    await expect.poll(worker.metrics, SOON).toMatch(/^worker_jobs_nothing_to_do_total\{.*\} 1\b/m)
    await expect.poll(worker.metrics, SOON).toMatch(/^worker_jobs_ended_total\{outcome="ran".*\} 1\b/m)
    await queue.enqueue([job]) // its id is free again
    await expect.poll(worker.metrics, SOON).toMatch(/^worker_jobs_nothing_to_do_total\{.*\} 2\b/m)
    expect(worker.log().filter(({ level }) => level !== 'info')).toEqual([])
  },
)
