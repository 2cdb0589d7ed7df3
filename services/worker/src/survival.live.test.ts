import { expect } from 'vitest'
import { openNodeQueue } from '@gateway/node-queue/node-queue'
import { Redis } from 'ioredis'
import { flow, houseTest, newPrompt, nodeOf, oneChat, side } from './house.fixture.ts'

const SOON = { timeout: 20_000, interval: 20 }

houseTest(
  'a worker killed in the middle of a call: the node runs again and is charged once',
  async ({ startWorker, shop, house }) => {
    const { control } = house.origin
    const [first, prompt] = [await startWorker(), newPrompt()]
    await control.setFaults([{ prompt, hold: true, times: 1 }])
    const execution = await shop.start(oneChat(shop.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await startWorker()
    first.signal('SIGKILL')
    const run = await shop.ended(execution)
    await control.release()
    expect(run).toMatchObject({ status: 'Succeeded' })
    expect(await control.countCalls({ prompt })).toBe(2)
    expect(await shop.wallet()).toEqual({ reserved: 0, settled: nodeOf(run, 'chat').chargedMicro })
  },
)

houseTest(
  'a worker that stops gives back what it can not finish, and another one runs it',
  async ({ startWorker, shop, house }) => {
    const { control } = house.origin
    const [first, prompt] = [await startWorker({ DRAIN_MS: '100' }), newPrompt()]
    await control.setFaults([{ prompt, hold: true, times: 1 }])
    const execution = await shop.start(oneChat(shop.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await startWorker()
    first.signal('SIGTERM')
    expect(await first.ended).toBe(0)
    const run = await shop.ended(execution)
    expect(run).toMatchObject({ status: 'Succeeded' })
    expect(await control.countCalls({ prompt, outcome: 'aborted' })).toBe(1)
    expect(await shop.wallet()).toEqual({ reserved: 0, settled: nodeOf(run, 'chat').chargedMicro })
  },
)

houseTest('a worker that stops finishes what takes less than its time', async ({ startWorker, shop, house }) => {
  const { control } = house.origin
  const [worker, prompt] = [await startWorker({ DRAIN_MS: '10000' }), newPrompt()]
  await control.setFaults([{ prompt, hold: true }])
  const execution = await shop.start(oneChat(shop.model), { prompt })
  await control.waitForCalls(1, { prompt })
  worker.signal('SIGTERM')
  await expect.poll(() => worker.log().map(({ message }) => message), SOON).toContain('stopping')
  await control.release()
  expect(await worker.ended).toBe(0)
  const { run } = await shop.record(execution)
  expect(nodeOf(run, 'chat')).toMatchObject({ status: 'Succeeded' })
  expect(await control.countCalls({ prompt })).toBe(1)
})

houseTest(
  'a job that is delivered twice calls once',
  async ({ startWorker, shop, house, ownRedis, onTestFinished }) => {
    const { control } = house.origin
    await startWorker({ CONCURRENCY: '1' }) // which has no place for the second delivery
    const prompt = newPrompt()
    await control.setFaults([{ prompt, hold: true }])
    const execution = await shop.start(oneChat(shop.model), { prompt })
    await control.waitForCalls(1, { prompt })

    const second = await startWorker()
    const redis = new Redis(ownRedis.url)
    onTestFinished(() => redis.disconnect())
    await redis.flushall() // the lock is gone, and the job; its id is free
    const queue = openNodeQueue({ redisUrl: ownRedis.url })
    onTestFinished(() => queue.close())
    await queue.enqueue([{ execution, node: 'chat', attempt: 1 }])
    await expect.poll(second.metrics, SOON).toMatch(/^worker_jobs_nothing_to_do_total\{.*\} 1\b/m)

    await control.release()
    expect(await shop.ended(execution)).toMatchObject({ status: 'Succeeded' })
    expect(await control.countCalls({ prompt })).toBe(1)
  },
)

houseTest(
  'an answer that the ledger can not be told at once is told when it is back',
  async ({ startWorker, shop, house, road }) => {
    const { control } = house.origin
    await startWorker({ LEDGER_URL: road.ledgerUrl })
    const prompt = newPrompt()
    await control.setFaults([{ prompt, hold: true }])
    const execution = await shop.start(oneChat(shop.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await road.down()
    await control.release()
    await control.waitForCalls(1, { prompt, outcome: 'finished' })
    await road.up()
    expect(await shop.ended(execution)).toMatchObject({ status: 'Succeeded' })
    expect(await control.countCalls({ prompt })).toBe(1)
  },
)

houseTest(
  'a worker that was taken for dead is fenced, charges nobody and works on',
  async ({ startWorker, shop, house, road }) => {
    const { control } = house.origin
    const first = await startWorker({ LEDGER_URL: road.ledgerUrl })
    const prompt = newPrompt()
    await control.setFaults([{ prompt, hold: true, times: 1 }])
    const execution = await shop.start(oneChat(shop.model), { prompt })
    await control.waitForCalls(1, { prompt })
    await road.down()
    const second = await startWorker()
    const run = await shop.ended(execution)
    expect(run).toMatchObject({ status: 'Succeeded' })
    await control.release()
    await road.up()
    await expect.poll(first.metrics, SOON).toMatch(/^worker_nodes_total\{kind="product.chat",how="fenced".*\} 1\b/m)
    expect(await shop.wallet()).toEqual({ reserved: 0, settled: nodeOf(run, 'chat').chargedMicro })

    second.signal('SIGTERM')
    await second.ended
    expect(await shop.run(oneChat(shop.model), { prompt: newPrompt() })).toMatchObject({ status: 'Succeeded' })
  },
)

houseTest('when one node fails, a call beside it is ended and not charged', async ({ startWorker, shop, house }) => {
  const { control } = house.origin
  await startWorker()
  const [slow, wrong] = [newPrompt(), newPrompt()]
  await control.setFaults([
    { prompt: slow, stall: 'before-first-byte' },
    { prompt: wrong, hold: true, status: 500 },
  ])
  const execution = await shop.start(twoChats(shop.model), { one: slow, two: wrong })
  await control.waitForCalls(1, { prompt: slow })
  await control.waitForCalls(1, { prompt: wrong })
  await control.release()
  const run = await shop.ended(execution)
  expect(run).toMatchObject({ status: 'Failed', error: { code: 'provider_failed' }, chargedMicro: 0 })
  expect(nodeOf(run, 'one')).toMatchObject({ status: 'Failed', error: { code: 'node_failed' } })
  expect(nodeOf(run, 'out')).toMatchObject({ status: 'Pending' })
  expect(await control.countCalls({ prompt: slow, outcome: 'aborted' })).toBe(1)
  expect(await shop.wallet()).toEqual({ reserved: 0, settled: 0 })
})

houseTest(
  'two calls that the wallet can pay one after the other both run',
  async ({ startWorker, shop, house, world }) => {
    const { control } = house.origin
    const worker = await startWorker()
    const price = 600_000_000_000n // 0.60 USD a call, and there is 1 USD and 0.30
    const model = await shop.sell({ requestPico: price })
    await world.fund(shop.project, 300_000n)
    const prompts = [newPrompt(), newPrompt()]
    await control.setFaults(prompts.map((prompt) => ({ prompt, hold: true as const })))
    const execution = await shop.start(threeChats(model), { one: prompts[0], two: prompts[1], three: prompts[0] })
    await control.waitForCalls(2)
    await expect.poll(shop.wallet, SOON).toEqual({ reserved: 1_200_000, settled: 0 })
    await control.release()
    await control.clearFaults()
    await expect.poll(shop.wallet, SOON).toMatchObject({ settled: 1_200_000 })
    // The third never fits: what is held is nobody's any more.
    const run = await shop.ended(execution)
    expect(run).toMatchObject({ status: 'Failed', error: { code: 'insufficient_budget' }, chargedMicro: 1_200_000 })
    expect(await worker.metrics()).toMatch(/^worker_funds_wait_(seconds_)?count\{how="refused".*\} 1\b/m)
  },
)

houseTest('a call that waits for money runs as soon as there is some', async ({ startWorker, shop, house }) => {
  const { control } = house.origin
  await startWorker()
  const model = await shop.sell({ requestPico: 600_000_000_000n })
  const [one, two] = [newPrompt(), newPrompt()]
  await control.setFaults([
    { prompt: one, hold: true, status: 500 },
    { prompt: two, hold: true, status: 500 },
  ])
  // Two runs, so that the failure of the one is not the other's.
  const executions = [
    await shop.start(oneChat(model), { prompt: one }),
    await shop.start(oneChat(model), { prompt: two }),
  ]
  await control.waitForCalls(1)
  await control.setFaults([])
  await control.release()
  const runs = await Promise.all(executions.map(shop.ended))
  expect(runs.map(({ status }) => status).toSorted()).toEqual(['Failed', 'Succeeded'])
  expect(await shop.wallet()).toEqual({ reserved: 0, settled: 600_000 })
})

houseTest(
  'a call that is under way when the run is over is ended [execution_timeout]',
  async ({ startWorker, shop, house, world }) => {
    const { control } = house.origin
    await startWorker()
    const [first, prompt] = [newPrompt(), newPrompt()]
    const nodes = [
      { id: 'one', kind: 'product.chat', product: shop.model },
      { id: 'two', kind: 'product.chat', product: shop.model },
    ]
    const edges = ['in.first>one.prompt', 'one.text>two.prompt', 'in.second>two.system', 'two.text>out.text']
    await control.setFaults([
      { prompt, stall: 'before-first-byte' },
      { prompt: first, hold: true },
    ])
    const graph = flow(side('first', 'second'), side('text'), nodes, ...edges)
    const execution = await shop.start(graph, { first, second: prompt })
    await control.waitForCalls(1, { prompt: first })
    await world.run(
      `UPDATE money.executions SET deadline_at = now() + interval '1 second', version = version + 1 WHERE id = $1`,
      [execution],
    )
    await control.release()
    const run = await shop.ended(execution)
    expect(run).toMatchObject({ status: 'Failed', error: { code: 'execution_timeout' } })
    expect(nodeOf(run, 'two')).toMatchObject({
      status: 'Failed',
      error: { code: 'execution_timeout' },
      chargedMicro: 0,
    })
    expect(run.chargedMicro).toBe(nodeOf(run, 'one').chargedMicro)
    expect(run.chargedMicro).toBeGreaterThan(0)
  },
)

function twoChats(product: string) {
  const nodes = ['one', 'two'].map((id) => ({ id, kind: 'product.chat', product }))
  const edges = ['one', 'two'].flatMap((id) => [`in.${id}>${id}.prompt`, `${id}.text>out.${id}`])
  return flow(side('one', 'two'), side('one', 'two'), nodes, ...edges)
}

function threeChats(product: string) {
  const ids = ['one', 'two', 'three']
  const nodes = ids.map((id) => ({ id, kind: 'product.chat', product }))
  const edges = ids.flatMap((id) => [`in.${id}>${id}.prompt`, `${id}.text>out.${id}`])
  return flow(side(...ids), side(...ids), nodes, ...edges)
}
