import { expect } from 'vitest'
import type { Graph } from '@gateway/api/graph'
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
