import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openStack, type Stack } from './src/stack.ts'
import { paidFlow } from './src/paid-flows.ts'
import { runUntilOver } from './src/executions.ts'

// Workers start and stop under a backlog. The provider dominates the time, and each worker calls it for two nodes concurrently, so
// throughput reflects the number of workers and not the load of this machine. The test compares two counts over equal spans of the
// database's clock; it asserts no durations.

const EXECUTIONS = 30
const CALLS = 8
const CONCURRENCY = 2
const PROVIDER_MS = 400
const SPAN_S = 4

const test = liveTest.extend('stack', async ({ database, redisServer }, { onCleanup }) => {
  const stack = await openStack({
    ...database,
    redisUrl: redisServer.url,
    workers: 3,
    environment: { worker: () => ({ CONCURRENCY: String(CONCURRENCY) }) },
  })
  onCleanup(stack.close)
  return stack
})

test('three workers drain a backlog faster than one, and stopping one loses nothing', async ({ stack }) => {
  const [, second, third] = stack.workers
  const tenant = await stack.tenant(100_000_000_000n)
  const { id: sandbox } = await stack.fixture.sandbox(tenant.project, paidFlow(tenant.model, CALLS))
  await stack.provider.control.setFaults([{ latencyMs: PROVIDER_MS }])
  await second!.stop()
  await third!.stop()
  const { secret } = tenant.key
  const running = Array.from({ length: EXECUTIONS }, (_, n) =>
    runUntilOver(stack, { sandbox, secret, input: { text: `scaled${n}.` }, idempotencyKey: `scaled-${n}` }),
  )
  const project = tenant.project.id

  await until(async () => (await workersOf(stack, project)) === 1)
  const alone = await countInSpan(stack, project)

  await Promise.all([second!.start(), third!.start()])
  await until(async () => (await workersOf(stack, project)) === 3)
  const together = await countInSpan(stack, project)
  expect(await waiting(stack, project)).toBeGreaterThan(0) // the backlog isn't drained yet

  await second!.stop() // while it has calls in progress
  expect(readFileSync(second!.logFile, 'utf8').match(/"clean":true/g)).toHaveLength(2)

  // Three workers could do three times as much; half of the gain allows for noise.
  expect(alone).toBeGreaterThan(0)
  expect(together / alone).toBeGreaterThan(2)

  const records = await Promise.all(running)
  expect(records.filter(({ status }) => status !== 'Succeeded')).toEqual([])
  await stack.untilNothingIsReserved(project, 30_000)
  expect(await stack.findings([project])).toEqual([])
  const charges = (await stack.invocations(project)).filter(({ state }) => state === 'Settled')
  expect(charges).toHaveLength(EXECUTIONS * CALLS)
  expect(new Set(charges.map(({ execution, node }) => `${execution} ${node}`)).size).toBe(EXECUTIONS * CALLS)
  // The stopped worker finished its calls: the provider was never called twice.
  expect(await stack.provider.control.countCalls()).toBe(EXECUTIONS * CALLS)
}, 300_000)

async function one<Row>({ fixture }: Stack, sql: string, values: unknown[]): Promise<Row> {
  return (await fixture.run(sql, values)).rows[0] as Row
}

/** Number of workers with running paid nodes of the project. */
async function workersOf(stack: Stack, project: string): Promise<number> {
  const { instances } = await one<{ instances: number }>(
    stack,
    `SELECT count(DISTINCT instance)::int AS instances FROM money.execution_nodes
      WHERE project = $1 AND kind = 'product.chat' AND state = 'Running'`,
    [project],
  )
  return instances
}

/** Number of ready nodes of any kind: executions move in step, so at times none of them is at a paid node. */
async function waiting(stack: Stack, project: string): Promise<number> {
  const { ready } = await one<{ ready: number }>(
    stack,
    `SELECT count(*)::int AS ready FROM money.execution_nodes WHERE project = $1 AND state = 'Ready'`,
    [project],
  )
  return ready
}

/** Number of paid nodes completed in the next SPAN_S seconds of the database's clock. */
async function countInSpan(stack: Stack, project: string): Promise<number> {
  const { begin } = await one<{ begin: string }>(stack, 'SELECT clock_timestamp()::text AS begin', [])
  const span = [begin, SPAN_S]
  await until(
    async () =>
      (
        await one<{ over: boolean }>(
          stack,
          `SELECT clock_timestamp() > $1::timestamptz + $2 * interval '1 s' AS over`,
          span,
        )
      ).over,
  )
  const { ended } = await one<{ ended: number }>(
    stack,
    `SELECT count(*)::int AS ended FROM money.execution_nodes
      WHERE project = $3 AND kind = 'product.chat' AND completed_at BETWEEN $1::timestamptz AND $1::timestamptz + $2 * interval '1 s'`,
    [...span, project],
  )
  return ended
}

async function until(so: () => Promise<boolean>): Promise<void> {
  while (!(await so())) await new Promise((resolve) => setTimeout(resolve, 50))
}
