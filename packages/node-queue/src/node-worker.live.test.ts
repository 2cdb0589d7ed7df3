import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { expect, onTestFinished } from 'vitest'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import { newJob, openQueue, openWorker } from './fixtures/queue-in-test.ts'
import { JobAborted } from './job-aborted.ts'
import { jobIdOf } from './node-job.ts'

liveTest.concurrent('a job whose worker was killed runs again on another', async ({ redis }) => {
  const place = { url: redis.url, prefix: `${redis.prefix}killed` }
  const program = new URL('./fixtures/worker-process.ts', import.meta.url)
  const child = fork(program, [place.url, place.prefix], { execArgv: [] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const job = newJob()
  await openQueue(place).enqueue([job])
  expect(await once(child, 'message')).toMatchObject([job])
  child.kill('SIGKILL')
  await once(child, 'exit')
  const run = await openWorker(place).next() // within the test's time limit
  expect(run.job).toEqual(job)
})

liveTest.concurrent('a lost lock aborts the run and leaves the job to whoever has it now', async ({ redis }) => {
  const place = { url: redis.url, prefix: `${redis.prefix}lost` }
  const looker = new Redis(redis.url)
  onTestFinished(() => looker.disconnect())
  const worker = openWorker(place)
  const [job, after] = [newJob(), newJob()]
  const queue = openQueue(place)
  await queue.enqueue([job])
  const run = await worker.next()
  await looker.set(`${place.prefix}:nodes:${jobIdOf(job)}:lock`, 'another worker', 'PX', 60_000)
  await once(run.signal, 'abort')
  expect(run.signal.reason).toMatchObject({ why: 'lost' } satisfies Partial<JobAborted>)
  expect(worker.lost).toEqual([job])
  await queue.enqueue([after])
  expect((await worker.next()).job).toEqual(after) // the place is free
  expect(await looker.lrange(`${place.prefix}:nodes:active`, 0, -1)).toContain(jobIdOf(job))
  expect(worker.failed).toEqual([])
})

liveTest.concurrent('a job that comes again while its run is under way here does not run twice', async ({ redis }) => {
  const place = { url: redis.url, prefix: `${redis.prefix}again` }
  const looker = new Redis(redis.url)
  onTestFinished(() => looker.disconnect())
  const worker = openWorker(place, { concurrency: 2 })
  const queue = openQueue(place)
  const job = newJob()
  await queue.enqueue([job])
  const run = await worker.next()
  const keys = await looker.keys(`${place.prefix}*`)
  await looker.del(keys) // as a flush does
  await queue.enqueue([job])
  await expect.poll(() => looker.lrange(`${place.prefix}:nodes:active`, 0, -1)).toEqual([jobIdOf(job)])
  run.finish()
  await expect.poll(() => looker.exists(`${place.prefix}:nodes:${jobIdOf(job)}`)).toBe(0)
  expect(worker.begun).toHaveLength(1)
  expect([...worker.failed, ...worker.lost]).toEqual([])
})

liveTest.concurrent('a stop takes nothing new, and waits for what runs', async ({ redis }) => {
  const place = { url: redis.url, prefix: `${redis.prefix}stop` }
  const worker = openWorker(place, { concurrency: 2 })
  const queue = openQueue(place)
  const [job, late] = [newJob(), newJob()]
  await queue.enqueue([job])
  const run = await worker.next()
  const stopped = worker.stop(30_000)
  await queue.enqueue([late])
  expect((await openWorker(place).next()).job).toEqual(late)
  expect(run.signal.aborted).toBe(false)
  run.finish()
  await stopped
  expect(worker.begun).toHaveLength(1)
  expect(worker.failed).toEqual([])
})

liveTest.concurrent('what runs beyond the limit of a stop is aborted and handed back at once', async ({ redis }) => {
  const place = { url: redis.url, prefix: `${redis.prefix}late` }
  const worker = openWorker(place)
  const job = newJob()
  await openQueue(place).enqueue([job])
  const run = await worker.next()
  await worker.stop(0)
  expect(run.signal.reason).toMatchObject({ why: 'stopping' } satisfies Partial<JobAborted>)
  const looker = new Redis(redis.url)
  onTestFinished(() => looker.disconnect())
  expect(await looker.lrange(`${place.prefix}:nodes:wait`, 0, -1)).toEqual([jobIdOf(job)])
  expect((await openWorker(place).next()).job).toEqual(job)
  expect(worker.failed).toEqual([])
})

liveTest.concurrent('a stop ends though a run does not heed its signal', async ({ redis }) => {
  const place = { url: redis.url, prefix: `${redis.prefix}deaf` }
  const worker = openWorker(place, { heedsAbort: false })
  await openQueue(place).enqueue([newJob()])
  const run = await worker.next()
  await worker.stop(0)
  expect(run.signal.aborted).toBe(true)
})

liveTest.concurrent('the queue is polled while it is empty, and while every place is taken', async ({ redis }) => {
  const place = { url: redis.url, prefix: `${redis.prefix}polled` }
  const worker = openWorker(place)
  const polledSince = (ms: number) => expect.poll(() => worker.lastPolledMs(), { timeout: 30_000 }).toBeGreaterThan(ms)
  await polledSince(worker.lastPolledMs())
  await polledSince(worker.lastPolledMs())
  await openQueue(place).enqueue([newJob()])
  await worker.next()
  await polledSince(worker.lastPolledMs())
  await polledSince(worker.lastPolledMs())
})

liveTest.concurrent('a flush of Redis loses what waits, and the worker goes on', async ({ redisServer }) => {
  const worker = openWorker(redisServer)
  const queue = openQueue(redisServer)
  const [running, waiting, after] = [newJob(), newJob(), newJob()]
  await queue.enqueue([running, waiting])
  const run = await worker.next()
  const looker = new Redis(redisServer.url)
  onTestFinished(() => looker.disconnect())
  await looker.flushall()
  await once(run.signal, 'abort')
  await queue.enqueue([after])
  ;(await worker.next()).finish()
  await queue.enqueue([waiting]) // as the ledger's keeper does
  ;(await worker.next()).finish()
  expect(worker.begun.map(({ job }) => job)).toEqual([running, after, waiting])
  expect(worker.lost).toEqual([running])
})

liveTest.concurrent('after a crash and restart of Redis the worker goes on', async ({ redisServer }) => {
  const worker = openWorker(redisServer)
  const queue = openQueue(redisServer)
  await queue.enqueue([newJob()])
  ;(await worker.next()).finish()
  await redisServer.stopImmediately()
  await redisServer.restart()
  const after = newJob()
  await expect.poll(() => queue.enqueue([after]).then(() => 'rung', () => 'away')).toBe('rung')
  await expect.poll(() => worker.begun.map(({ job }) => job), { timeout: 30_000 }).toContainEqual(after)
})

liveTest.concurrent('a connection on which Redis does not answer is given up, and the worker goes on', async ({ redis }) => {
  const { hostname, port } = new URL(redis.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const prefix = `${redis.prefix}stalled`
  const worker = openWorker({ url: proxy.through(redis.url), prefix })
  const queue = openQueue({ url: redis.url, prefix })
  await queue.enqueue([newJob()])
  ;(await worker.next()).finish()
  await proxy.stall()
  await expect.poll(() => worker.troubles.length, { timeout: 30_000 }).toBeGreaterThan(0)
  proxy.heal()
  const after = newJob()
  await queue.enqueue([after])
  expect((await worker.next()).job).toEqual(after)
})

liveTest.concurrent('a stop ends while Redis is away, and where there never was one', async ({ redisServer }) => {
  const worker = openWorker(redisServer)
  await openQueue(redisServer).enqueue([newJob()])
  const run = await worker.next()
  await redisServer.stopImmediately()
  const never = openWorker(redisServer)
  await expect.poll(() => never.troubles.length).toBeGreaterThan(0)
  await never.stop(0)
  await worker.stop(0)
  expect(run.signal.aborted).toBe(true)
})

liveTest.concurrent('a Redis that refuses to write is asked again with a pause, and used when it is well', async ({ redisServer }) => {
  const worker = openWorker(redisServer)
  const queue = openQueue(redisServer)
  await queue.enqueue([newJob()])
  ;(await worker.next()).finish()
  const looker = new Redis(redisServer.url)
  onTestFinished(() => looker.disconnect())
  await looker.config('SET', 'maxmemory', '1')
  const polledMs = worker.lastPolledMs()
  await expect.poll(() => worker.troubles.length, { timeout: 30_000 }).toBeGreaterThan(2)
  await looker.config('SET', 'maxmemory', '0')
  await expect.poll(() => worker.lastPolledMs(), { timeout: 30_000 }).toBeGreaterThan(polledMs)
  const after = newJob()
  await queue.enqueue([after])
  expect((await worker.next()).job).toEqual(after)
})
