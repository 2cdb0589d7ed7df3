import { Redis } from 'ioredis'
import { expect, onTestFinished } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { newJob, openQueue, openWorker } from './fixtures/queue-in-test.ts'
import { jobIdOf } from './node-job.ts'
import { openNodeQueue, QueueUnavailable } from './node-queue.ts'
import { openNodeWorker } from './node-worker.ts'

function openRedis(url: string): Redis {
  const redis = new Redis(url)
  onTestFinished(() => redis.disconnect())
  return redis
}

liveTest('a job that is rung for twice while it waits runs once', async ({ redis }) => {
  const queue = openQueue(redis)
  const [twice, after] = [newJob(), newJob()]
  await queue.enqueue([twice, twice])
  await queue.enqueue([twice, after])
  const worker = openWorker(redis)
  ;(await worker.next()).finish()
  ;(await worker.next()).finish()
  expect(worker.begun.map((run) => run.job)).toEqual([twice, after])
})

liveTest('an id is free again once its job has run, well or not', async ({ redis }) => {
  const queue = openQueue(redis)
  const worker = openWorker(redis)
  const job = newJob()
  await queue.enqueue([job])
  ;(await worker.next()).finish()
  await untilRunsAgain(() => queue.enqueue([job]), worker.next())
  worker.begun[1]!.fail(new Error('no luck'))
  await untilRunsAgain(() => queue.enqueue([job]), worker.next())
  worker.begun[2]!.finish()
  expect(worker.begun.map((run) => run.job)).toEqual([job, job, job])
  expect(worker.failed).toEqual([job])
})

liveTest('a run that fails is not tried again by the queue', async ({ redis }) => {
  const queue = openQueue(redis)
  const worker = openWorker(redis)
  const [failing, after] = [newJob(), newJob()]
  await queue.enqueue([failing, after])
  ;(await worker.next()).fail(new Error('no luck'))
  ;(await worker.next()).finish()
  await worker.stop(1_000)
  expect(worker.begun.map((run) => run.job)).toEqual([failing, after])
})

liveTest('Redis holds ids and trace context of a job, under the prefix, and forgets it when it has run', async ({ redis }) => {
  const queue = openQueue(redis)
  const looker = openRedis(redis.url)
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' }
  const job = newJob({ trace })
  await queue.enqueue([{ ...job, ...{ prompt: 'a secret plan' } }])
  const key = `${redis.prefix}:nodes:${jobIdOf(job)}`
  expect(JSON.parse((await looker.hget(key, 'data')) ?? '')).toEqual(job)
  expect(JSON.stringify(await looker.hgetall(key))).not.toContain('secret plan')
  const worker = openWorker(redis)
  const run = await worker.next()
  expect(run.job).toEqual(job)
  run.finish()
  await worker.stop(1_000)
  expect(await looker.keys(`${key}*`)).toEqual([])
})

liveTest('what is no job is dropped and told', async ({ redis }) => {
  const queue = openQueue(redis)
  const looker = openRedis(redis.url)
  const [broken, after] = [newJob(), newJob()]
  await queue.enqueue([broken, after])
  await looker.hset(`${redis.prefix}:nodes:${jobIdOf(broken)}`, 'data', '{"execution":7}')
  const worker = openWorker(redis)
  expect((await worker.next()).job).toEqual(after)
  expect(worker.troubles.map((error) => error.message)).toEqual([`job ${jobIdOf(broken)} can't be read and is dropped`])
})

liveTest('five thousand jobs rung for at once run once each, on two workers', async ({ redis }) => {
  const queue = openQueue(redis)
  const jobs = Array.from({ length: 5_000 }, () => newJob())
  const ran: string[] = []
  const all = Promise.withResolvers<void>()
  const worker = () =>
    openNodeWorker({
      redisUrl: redis.url,
      prefix: redis.prefix,
      concurrency: 32,
      run: async ({ execution }) => void (ran.push(execution) === jobs.length && all.resolve()),
      onLost: () => {},
      onFailed: () => {},
      onTrouble: () => {},
    })
  const workers = [worker(), worker()]
  await queue.enqueue(jobs)
  await all.promise
  await Promise.all(workers.map((each) => each.stop(5_000)))
  expect(ran.toSorted()).toEqual(jobs.map(({ execution }) => execution).toSorted())
})

liveTest('ringing fails at once while Redis is away, and works when it is back', async ({ redisServer }) => {
  const queue = openQueue(redisServer)
  const job = newJob()
  await queue.enqueue([newJob()])
  await redisServer.stopImmediately()
  await expect(queue.enqueue([job])).rejects.toThrow(QueueUnavailable)
  await redisServer.restart()
  await expect.poll(() => queue.enqueue([job]).then(() => 'rung', () => 'away')).toBe('rung')
  const worker = openWorker(redisServer, { concurrency: 2 })
  await expect.poll(() => worker.begun.map((run) => run.job)).toContainEqual(job)
})

liveTest('ringing fails where there never was a Redis', async ({ redisServer }) => {
  await redisServer.stopImmediately()
  const queue = openNodeQueue({ redisUrl: redisServer.url })
  await expect(queue.enqueue([newJob()])).rejects.toThrow(QueueUnavailable)
  await queue.close()
})

/** The id is free once the queue has taken note of the end, a moment after the run: until then a ring is a silent no-op. */
async function untilRunsAgain(ring: () => Promise<void>, run: Promise<unknown>): Promise<void> {
  let runs = false
  void run.then(() => (runs = true))
  while (!runs) await ring()
}
