import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { expect } from 'vitest'
import { newJob, queueTest } from './fixtures/queue-in-test.ts'
import { jobIdOf } from './node-job.ts'
import { QueueUnavailable } from './node-queue.ts'
import { openNodeWorker } from './node-worker.ts'

queueTest('a job enqueued again while it waits runs once', async ({ open, address }) => {
  const queue = open.queue(address)
  const [twice, after] = [newJob(), newJob()]
  await queue.enqueue([twice, twice])
  await queue.enqueue([twice, after])
  const worker = open.worker(address)
  ;(await worker.next()).finish()
  ;(await worker.next()).finish()
  expect(worker.begun.map((run) => run.job)).toEqual([twice, after])
})

queueTest('a job id can be enqueued again after its job succeeded or failed', async ({ open, address }) => {
  const queue = open.queue(address)
  const worker = open.worker(address)
  const looker = open.redis(address.url)
  const job = newJob()
  const forgotten = () =>
    expect.poll(() => looker.exists(`${address.prefix}:nodes:${jobIdOf(job)}`), { interval: 5 }).toBe(0)
  await queue.enqueue([job])
  ;(await worker.next()).finish()
  await forgotten()
  await queue.enqueue([job])
  ;(await worker.next()).fail(new Error('no luck'))
  await forgotten()
  await queue.enqueue([job])
  ;(await worker.next()).finish()
  expect(worker.begun.map((run) => run.job)).toEqual([job, job, job])
  expect(worker.failed).toEqual([job])
})

queueTest('the queue does not retry a failed job', async ({ open, address }) => {
  const worker = open.worker(address)
  const [failing, after] = [newJob(), newJob()]
  await open.queue(address).enqueue([failing, after])
  ;(await worker.next()).fail(new Error('no luck'))
  ;(await worker.next()).finish()
  await worker.stop(1_000)
  expect(worker.begun.map((run) => run.job)).toEqual([failing, after])
})

queueTest(
  'Redis stores only ids and the traceparent of a job, and removes it after the run',
  async ({ open, address }) => {
    const looker = open.redis(address.url)
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    const job = newJob({ trace })
    const talkative = { ...job, trace: { ...trace, tracestate: 'a=secret plan' }, prompt: 'a secret plan' }
    await open.queue(address).enqueue([talkative])
    const key = `${address.prefix}:nodes:${jobIdOf(job)}`
    expect(JSON.parse((await looker.hget(key, 'data')) ?? '')).toEqual(job)
    expect(JSON.stringify(await looker.hgetall(key))).not.toContain('secret plan')
    const worker = open.worker(address)
    const run = await worker.next()
    expect(run.job).toEqual(job)
    run.finish()
    await worker.stop(1_000)
    expect(await looker.exists(key, `${key}:lock`)).toBe(0)
  },
)

queueTest('an unreadable job is dropped and reported', async ({ open, address }) => {
  const [broken, after] = [newJob(), newJob()]
  await open.queue(address).enqueue([broken, after])
  await open.redis(address.url).hset(`${address.prefix}:nodes:${jobIdOf(broken)}`, 'data', '{"execution":7}')
  const worker = open.worker(address)
  expect((await worker.next()).job).toEqual(after)
  expect(worker.troubles.map((error) => error.message)).toEqual([`job ${jobIdOf(broken)} can't be read and is dropped`])
})

queueTest('5,000 jobs enqueued together run once each on two workers', async ({ open, address }) => {
  const jobs = Array.from({ length: 5_000 }, () => newJob())
  const ran: string[] = []
  const all = Promise.withResolvers<void>()
  const openFast = () =>
    openNodeWorker({
      redisUrl: address.url,
      prefix: address.prefix,
      concurrency: 32,
      sliceMs: 0,
      run: async ({ execution }) => {
        if (ran.push(execution) === jobs.length) all.resolve()
        return null
      },
      onLost: () => {},
      onFailed: () => {},
      onTrouble: () => {},
    })
  const workers = [openFast(), openFast()]
  await open.queue(address).enqueue(jobs)
  await all.promise
  await Promise.all(workers.map((worker) => worker.stop(5_000)))
  expect(ran.toSorted()).toEqual(jobs.map(({ execution }) => execution).toSorted())
})

queueTest(
  'enqueueing fails while Redis is down, and works when it returns',
  async ({ open, privateAddress, redisServer }) => {
    const queue = open.queue(privateAddress)
    const job = newJob()
    await queue.enqueue([newJob()])
    await redisServer.stopImmediately()
    await expect(queue.enqueue([job])).rejects.toThrow(QueueUnavailable)
    await redisServer.restart()
    await expect.poll(() => queue.enqueue([job]).then(() => 'added', String), { timeout: 10_000 }).toBe('added')
    const worker = open.worker(privateAddress, { concurrency: 2 })
    await expect.poll(() => worker.begun.map((run) => run.job)).toContainEqual(job)
  },
)

queueTest(
  'enqueueing fails on a silent connection, then works on a new one',
  async ({ open, address, onTestFinished }) => {
    const { hostname, port } = new URL(address.url)
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
    onTestFinished(() => proxy.close())
    const queue = open.queue({ ...address, url: proxy.through(address.url) })
    await queue.enqueue([newJob()])
    proxy.fallSilent()
    await expect(queue.enqueue([newJob()])).rejects.toThrow(QueueUnavailable)
    await expect.poll(() => queue.enqueue([newJob()]).then(() => 'added', String), { timeout: 10_000 }).toBe('added')
  },
)

queueTest('enqueueing fails if Redis was never reachable', async ({ open, privateAddress, redisServer }) => {
  await redisServer.stopImmediately()
  await expect(open.queue(privateAddress).enqueue([newJob()])).rejects.toThrow(QueueUnavailable)
})
