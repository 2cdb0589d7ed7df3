import { describe, expect } from 'vitest'
import { openNodeQueue } from '@gateway/node-queue/node-queue'
import { Redis } from 'ioredis'
import type { OpenWorker } from './worker-in-process.fixture.ts'
import type { WorkerProcess } from './worker-process.fixture.ts'
import { workerTest } from './worker.fixture.ts'

const SOON = { timeout: 20_000, interval: 50 }

/** @param its `expect` of the test, where others run alongside it */
const isReady = (worker: Pick<OpenWorker | WorkerProcess, 'health'>, its = expect) =>
  its.poll(worker.health, SOON).toEqual({ status: 'ready' })

workerTest('a worker is on the books while it runs, and stops in order', async ({ startWorkerProcess, opened }) => {
  const worker = await startWorkerProcess()
  await isReady(worker)
  const instances = async () =>
    (await opened.fixture.run(`SELECT ended_at FROM money.instances WHERE service = 'worker'`)).rows
  expect(await instances()).toEqual([{ ended_at: null }])
  const messages = () => worker.log().map(({ message }) => message)
  const untilReady = messages() // a machine that is busy makes it wait for the ledger
  expect(untilReady[0]).toBe('listening')
  worker.signal('SIGTERM')
  expect(await worker.ended).toBe(0)
  expect(messages().slice(untilReady.length)).toEqual(['stopping', 'stopped'])
  expect(await instances()).toEqual([{ ended_at: expect.any(Date) as Date }])
})

// Side by side: each waits for seconds, for what is its alone.
describe.concurrent('readiness', () => {
  workerTest(
    'turns red while Redis evicts, and says why',
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
    'turns red while Redis is away, and green when it is back',
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
    'turns red while the ledger is away, and green when it is back',
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

workerTest('a worker waits for a ledger that is not there yet', async ({ startWorker, proxy }) => {
  await proxy.down()
  const worker = await startWorker()
  expect(await worker.health()).toEqual({ status: 'starting' })
  await proxy.up()
  await isReady(worker)
})

workerTest('a worker that waits for its ledger stops on SIGTERM', async ({ startWorkerProcess, proxy }) => {
  await proxy.down()
  const worker = await startWorkerProcess()
  worker.signal('SIGTERM')
  expect(await worker.ended).toBe(0)
})

workerTest('a stop ends in time though ledger and Redis are away', async ({ startWorker, proxy, redisServer }) => {
  const worker = await startWorker()
  await isReady(worker)
  await proxy.down()
  await redisServer.stopImmediately()
  await worker.stop()
  expect(worker.log().at(-1)).toMatchObject({ message: 'stopped', clean: true })
})

workerTest(
  'a job whose node is not in the books has nothing to do, each time it comes',
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
