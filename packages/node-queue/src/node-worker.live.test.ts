import { fork } from 'node:child_process'
import { once } from 'node:events'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { monitorRedis } from '@gateway/testbed/redis-monitor'
import { newJob, queueTest } from './fixtures/queue-in-test.ts'
import { jobIdOf } from './node-job.ts'

// These tests wait for locks to expire and for polls to return, so they run concurrently.
const together = queueTest.concurrent
const POLL = { timeout: 30_000 }

together(
  'a job whose worker was killed runs again on another worker',
  async ({ open, address, expect, onTestFinished }) => {
    const program = new URL('./fixtures/worker-process.ts', import.meta.url)
    const child = fork(program, [address.url, address.prefix], { execArgv: [] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const job = newJob()
    await open.queue(address).enqueue([job])
    expect(await once(child, 'message')).toContainEqual(job)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const run = await open.worker(address).next() // within the test's time limit
    expect(run).toMatchObject({ job, isFirst: false })
  },
)

together('a job that is enqueued is delivered for the first time', async ({ open, address, expect }) => {
  const worker = open.worker(address)
  await open.queue(address).enqueue([newJob()])
  expect((await worker.next()).isFirst).toBe(true)
})

together(
  'losing the lock aborts the run and leaves the job to the new holder of the lock',
  async ({ open, address, expect }) => {
    const looker = open.redis(address.url)
    const queue = open.queue(address)
    const worker = open.worker(address)
    const [job, after] = [newJob(), newJob()]
    await queue.enqueue([job])
    const run = await worker.next()
    await looker.set(`${address.prefix}:nodes:${jobIdOf(job)}:lock`, 'another worker', 'PX', 60_000)
    await once(run.signal, 'abort')
    expect(run.signal.reason).toMatchObject({ reason: 'lost' })
    expect(worker.lost).toEqual([job])
    await queue.enqueue([after])
    expect((await worker.next()).job).toEqual(after) // the slot is free
    expect(await looker.lrange(`${address.prefix}:nodes:active`, 0, -1)).toContain(jobIdOf(job))
    expect(worker.failed).toEqual([])
  },
)

together('a job delivered again while this worker runs it does not run twice', async ({ open, address, expect }) => {
  const looker = open.redis(address.url)
  const queue = open.queue(address)
  const worker = open.worker(address, { concurrency: 3 })
  const [job, after] = [newJob(), newJob()]
  await queue.enqueue([job])
  const run = await worker.next()
  await looker.del(await looker.keys(`${address.prefix}*`)) // same effect as a flush
  await queue.enqueue([job, after])
  const next = await worker.next() // jobs are delivered in order, so `job` was delivered again before
  run.finish()
  await expect.poll(() => looker.exists(`${address.prefix}:nodes:${jobIdOf(job)}`), POLL).toBe(0)
  expect(next.job).toEqual(after)
  expect(worker.begun).toHaveLength(2)
  expect([...worker.failed, ...worker.lost]).toEqual([])
})

together('the script that ends a job also takes the next one', async ({ open, privateAddress, expect }) => {
  const scripts: string[][] = [] // the commands of each; no other one comes between them
  const monitor = await monitorRedis(privateAddress.url, ({ words, isOfScript }) => {
    if (isOfScript) scripts.at(-1)!.push(words.join(' '))
    else scripts.push([])
  })
  const [job, after] = [newJob(), newJob()]
  await open.queue(privateAddress).enqueue([job, after])
  const worker = open.worker(privateAddress)
  const run = await worker.next()
  run.finish()
  await worker.next()
  await monitor.caughtUp()
  monitor.stop()
  const taking = scripts.find((commands) => commands.join().includes(`${jobIdOf(after)}:lock`))
  expect(taking?.join('\n')).toContain(jobIdOf(job))
})

together('a job that continues with further nodes remains one job in the queue', async ({ open, address, expect }) => {
  const looker = open.redis(address.url)
  const worker = open.worker(address)
  const job = newJob()
  await open.queue(address).enqueue([job])
  const first = await worker.next()
  const ran: string[] = []
  const ended = Promise.withResolvers<void>()
  const last = { node: 'third', attempt: 1, run: async () => (ran.push('third'), ended.resolve(), null) }
  first.finish({ node: 'second', attempt: 1, run: async () => (ran.push('second'), last) })
  await ended.promise
  await expect.poll(() => looker.exists(`${address.prefix}:nodes:${jobIdOf(job)}`), POLL).toBe(0)
  expect(ran).toEqual(['second', 'third'])
  expect(worker.begun).toHaveLength(1)
  expect(worker.failed).toEqual([])
})

together('a job may continue for its slice, until the worker stops', async ({ open, address, expect }) => {
  let ms = 0
  const queue = open.queue(address)
  const worker = open.worker(address, { concurrency: 2, sliceMs: 200, now: () => ms })
  await queue.enqueue([newJob()])
  const first = await worker.next()
  expect(first.mayGoOn()).toBe(true)
  ms = 199
  await queue.enqueue([newJob()])
  const second = await worker.next()
  ms = 200
  expect([first.mayGoOn(), second.mayGoOn()]).toEqual([false, true])
  const stopped = worker.stop(10_000)
  expect(second.mayGoOn()).toBe(false)
  first.finish()
  second.finish()
  await stopped
})

together('no job may continue if the slice is 0', async ({ open, address, expect }) => {
  const worker = open.worker(address, { concurrency: 2, sliceMs: 0 })
  await open.queue(address).enqueue([newJob()])
  expect((await worker.next()).mayGoOn()).toBe(false)
})

together(
  'a paused worker takes no new jobs but continues running ones, and can be resumed',
  async ({ open, address, expect }) => {
    const queue = open.queue(address)
    const paused = open.worker(address, { concurrency: 2 })
    const [first, second, third] = [newJob(), newJob(), newJob()]
    await queue.enqueue([first])
    const run = await paused.next()
    paused.pause()
    const polledMs = paused.lastPolledMs()
    const other = open.worker(address)
    await queue.enqueue([second])
    expect((await other.next()).job).toEqual(second) // it has only one slot
    await queue.enqueue([third])
    expect(run.signal.aborted).toBe(false)
    expect(paused.lastPolledMs()).toBeGreaterThan(polledMs) // a paused worker still polls
    expect(paused.begun).toHaveLength(1)
    paused.resume()
    expect((await paused.next()).job).toEqual(third)
    run.finish()
  },
)

together('a stopping worker takes no new jobs and waits for running ones', async ({ open, address, expect }) => {
  const queue = open.queue(address)
  const worker = open.worker(address, { concurrency: 2 })
  const [job, late] = [newJob(), newJob()]
  await queue.enqueue([job])
  const run = await worker.next()
  const stopped = worker.stop(30_000)
  await queue.enqueue([late])
  expect((await open.worker(address).next()).job).toEqual(late)
  expect(run.signal.aborted).toBe(false)
  run.finish()
  await stopped
  expect(worker.begun).toHaveLength(1)
  expect(worker.failed).toEqual([])
})

together(
  'a job that outlasts the stop timeout is aborted and returned to the queue',
  async ({ open, address, expect }) => {
    const worker = open.worker(address)
    const job = newJob()
    await open.queue(address).enqueue([job])
    const run = await worker.next()
    await worker.stop(0)
    expect(run.signal.reason).toMatchObject({ reason: 'stopping' })
    expect(await open.redis(address.url).lrange(`${address.prefix}:nodes:wait`, 0, -1)).toEqual([jobIdOf(job)])
    expect((await open.worker(address).next()).job).toEqual(job)
    expect(worker.failed).toEqual([])
  },
)

together('stopping completes even if a job ignores its abort signal', async ({ open, address, expect }) => {
  const worker = open.worker(address, { heedsAbort: false })
  await open.queue(address).enqueue([newJob()])
  const run = await worker.next()
  await worker.stop(0)
  expect(run.signal.aborted).toBe(true)
})

together('polls the queue while it is empty and while all slots are in use', async ({ open, address, expect }) => {
  const worker = open.worker(address)
  const polledAgain = () => expect.poll(worker.lastPolledMs, POLL).toBeGreaterThan(worker.lastPolledMs())
  await polledAgain()
  await polledAgain()
  await open.queue(address).enqueue([newJob()])
  await worker.next()
  await polledAgain()
  await polledAgain()
})

together(
  'after a Redis flush waiting jobs are lost and the worker continues',
  async ({ open, privateAddress, expect }) => {
    const queue = open.queue(privateAddress)
    const worker = open.worker(privateAddress)
    const [running, waiting, after] = [newJob(), newJob(), newJob()]
    await queue.enqueue([running, waiting])
    const run = await worker.next()
    await open.redis(privateAddress.url).flushall()
    await once(run.signal, 'abort')
    await queue.enqueue([after])
    ;(await worker.next()).finish()
    await queue.enqueue([waiting]) // the ledger's maintenance job does this
    ;(await worker.next()).finish()
    expect(worker.begun.map(({ job }) => job)).toEqual([running, after, waiting])
    expect(worker.lost).toEqual([running])
  },
)

together(
  'the worker continues after Redis crashes and restarts',
  async ({ open, privateAddress, redisServer, expect }) => {
    const queue = open.queue(privateAddress)
    const worker = open.worker(privateAddress, { concurrency: 2 })
    await queue.enqueue([newJob()])
    ;(await worker.next()).finish()
    await redisServer.stopImmediately()
    await redisServer.restart()
    const after = newJob()
    await expect.poll(() => queue.enqueue([after]).then(() => 'added', String), POLL).toBe('added')
    await expect.poll(() => worker.begun.map(({ job }) => job), POLL).toContainEqual(after)
  },
)

together('drops a connection on which Redis does not respond', async ({ open, address, expect, onTestFinished }) => {
  const { hostname, port } = new URL(address.url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  onTestFinished(() => proxy.close())
  const queue = open.queue(address)
  const worker = open.worker({ ...address, url: proxy.through(address.url) })
  await queue.enqueue([newJob()])
  ;(await worker.next()).finish()
  await proxy.stall()
  await expect.poll(() => worker.troubles.length, POLL).toBeGreaterThan(0)
  proxy.heal()
  const after = newJob()
  await queue.enqueue([after])
  expect((await worker.next()).job).toEqual(after)
})

together(
  'stopping completes while Redis is down, even if it was never reachable',
  async ({ open, privateAddress, redisServer, expect }) => {
    const worker = open.worker(privateAddress)
    await open.queue(privateAddress).enqueue([newJob()])
    const run = await worker.next()
    await redisServer.stopImmediately()
    const never = open.worker(privateAddress)
    await expect.poll(() => never.troubles.length, POLL).toBeGreaterThan(0)
    await never.stop(0)
    await worker.stop(0)
    expect(run.signal.aborted).toBe(true)
  },
)

together(
  'keeps polling a Redis that refuses writes, and continues once it accepts them',
  async ({ open, privateAddress, expect }) => {
    const looker = open.redis(privateAddress.url)
    const queue = open.queue(privateAddress)
    const worker = open.worker(privateAddress)
    await queue.enqueue([newJob()])
    ;(await worker.next()).finish()
    await looker.config('SET', 'maxmemory', '1')
    await expect.poll(() => worker.troubles.length, POLL).toBeGreaterThan(0)
    const polledMs = worker.lastPolledMs()
    await looker.config('SET', 'maxmemory', '0')
    await expect.poll(worker.lastPolledMs, POLL).toBeGreaterThan(polledMs)
    const after = newJob()
    await queue.enqueue([after])
    expect((await worker.next()).job).toEqual(after)
  },
)
