import { expect } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { monitorRedis } from '@gateway/testbed/redis-monitor'
import { flow, newPrompt, nodeOf, side, stackTest as test } from './stack.fixture.ts'

// Each node of an execution is a job. With a slice of time, a job continues with free nodes (N6 in run-node.ts).

const SOON = { timeout: 20_000, interval: 50 }

/** Flow with `text` in, `length` templates in a row and `text` out. */
function line(length: number): Graph {
  const steps = Array.from({ length }, (_, n) => ({ id: `t${n}`, kind: 'template', template: '{{ text }}' }))
  const ends = ['in', ...steps.map(({ id }) => id), 'out']
  return flow(side('text'), side('text'), steps, ...ends.slice(1).map((to, n) => `${ends[n]!}.text>${to}.text`))
}

const countOf = (metrics: string, name: string): number =>
  [...metrics.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)`, 'gm'))].reduce((sum, [, n]) => sum + Number(n), 0)

/** Jobs that ran nodes. Files before this one may have left jobs of executions that have ended. */
const jobsOf = (metrics: string): number =>
  countOf(metrics, 'worker_jobs_ended_total') - countOf(metrics, 'worker_jobs_nothing_to_do_total')

test('runs a chain of nodes as one job within the slice', async ({ startWorker, tenant }) => {
  const worker = await startWorker({ NODE_SLICE_MS: '60000' })
  const record = await tenant.run(line(8), { text: 'whole' })
  expect(record).toMatchObject({ status: 'Succeeded', output: { text: 'whole' } })
  await expect.poll(async () => countOf(await worker.metrics(), 'worker_nodes_ended_total'), SOON).toBe(9)
  expect(jobsOf(await worker.metrics())).toBe(1)
})

test('runs each node of a chain as a separate job by default', async ({ startWorker, tenant }) => {
  const worker = await startWorker()
  const record = await tenant.run(line(8), { text: 'parts' })
  expect(record).toMatchObject({ status: 'Succeeded', output: { text: 'parts' } })
  await expect.poll(async () => countOf(await worker.metrics(), 'worker_nodes_ended_total'), SOON).toBe(9)
  expect(jobsOf(await worker.metrics())).toBe(9)
})

test('claims only the first node of a chain: the ledger grants the others ahead (N7)', async ({
  startWorker,
  tenant,
  stack,
}) => {
  const itemsDecided = async () => {
    const measured = await (await fetch(`${stack.ledgers[0]!.metricsUrl}/metrics`)).text()
    return Number(/^ledger_node_batch_items_sum\S* (\d+)/m.exec(measured)?.[1] ?? 0)
  }
  await startWorker({ CONCURRENCY: '1' }) // it takes a job only after the answer to the result before
  const before = await itemsDecided()
  expect(await tenant.run(line(8), { text: 'ahead' })).toMatchObject({ status: 'Succeeded', output: { text: 'ahead' } })
  expect((await itemsDecided()) - before).toBe(1 + 9) // one claim, and the results of eight templates and the output
})

/** Jobs that are added to the queue for an execution, by ID. */
async function jobsAdded(redisUrl: string, run: () => Promise<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  const monitor = await monitorRedis(redisUrl, ({ words: [command = '', key = '', ...args] }) => {
    const [, id] = /:nodes:(n-exe_[\w-]+)$/.exec(key) ?? []
    if (id !== undefined && /^hm?set$/i.test(command) && args.includes('data')) ids.push(id)
  })
  try {
    const { id: execution } = await run()
    await monitor.caughtUp()
    return ids.filter((id) => id.startsWith(`n-${execution}-`))
  } finally {
    monitor.stop()
  }
}

// spec: 8.2/s1
test('adds one job for each node that has work, each ID once', async ({ startWorker, tenant, redis }) => {
  await startWorker()
  const parallel = Array.from({ length: 8 }, (_, n) => ({ id: `c${n}`, kind: 'product.chat', product: tenant.model }))
  const joined = { id: 'join', kind: 'template', template: parallel.map(({ id }) => `{{ ${id} }}`).join(' ') }
  const wide = flow(
    side('prompt'),
    side('text'),
    [...parallel, joined],
    ...parallel.flatMap(({ id }) => [`in.prompt>${id}.prompt`, `${id}.text>join.${id}`]),
    'join.text>out.text',
  )
  for (const [graph, input, jobs] of [
    [line(48), { text: 'long' }, 49], // and the output
    [wide, { prompt: newPrompt() }, 10], // and join and output
  ] as const) {
    const ids = await jobsAdded(redis.url, () => tenant.run(graph, input))
    expect(ids).toHaveLength(jobs)
    expect(new Set(ids).size).toBe(jobs)
  }
})

test('adds fewer jobs with a slice', async ({ startWorker, tenant, redis }) => {
  await startWorker({ NODE_SLICE_MS: '200' })
  const ids = await jobsAdded(redis.url, () => tenant.run(line(48), { text: 'long' }))
  expect(ids.length).toBeLessThan(49)
})

test('runs each paid node as a separate job, regardless of the slice', async ({ startWorker, tenant }) => {
  const worker = await startWorker({ NODE_SLICE_MS: '60000' })
  const chats = ['first', 'second', 'third'].map((id) => ({ id, kind: 'product.chat', product: tenant.model }))
  const graph = flow(
    side('prompt'),
    side('text'),
    chats,
    'in.prompt>first.prompt',
    'first.text>second.prompt',
    'second.text>third.prompt',
    'third.text>out.text',
  )
  const record = await tenant.run(graph, { prompt: newPrompt() })
  expect(record.status).toBe('Succeeded')
  const charges = chats.map(({ id }) => nodeOf(record, id).chargedMicro)
  expect(charges.every((micro) => micro > 0)).toBe(true)
  expect(record.chargedMicro).toBe(charges.reduce((sum, micro) => sum + micro, 0))
  expect(await tenant.wallet()).toEqual({ reserved: 0, settled: record.chargedMicro })
  await expect.poll(async () => countOf(await worker.metrics(), 'worker_nodes_ended_total'), SOON).toBe(4)
  expect(jobsOf(await worker.metrics())).toBe(3) // the output follows the last one
})
