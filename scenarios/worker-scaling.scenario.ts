import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openHouse, type House } from './src/house.ts'
import { paidFlow } from './src/paid-flows.ts'
import { runUntilOver } from './src/runs.ts'

// Workers come and go under a backlog. What takes the time is the origin, which each worker calls for two nodes at once, so that
// the figures say how many workers there are and not how busy this machine is. Two counts in spans of the database's clock that are
// equally long are compared, and nothing is said of how long anything takes.

const RUNS = 30
const CALLS = 8
const CONCURRENCY = 2
const ORIGIN_MS = 400
const SPAN_S = 4

const test = liveTest.extend('house', async ({ database, redisServer }, { onCleanup }) => {
  const house = await openHouse({
    ...database,
    redisUrl: redisServer.url,
    workers: 3,
    environment: { worker: () => ({ CONCURRENCY: String(CONCURRENCY) }) },
  })
  onCleanup(house.close)
  return house
})

test('three workers drain a backlog faster than one, and taking one away loses nothing', async ({ house }) => {
  const [, second, third] = house.workers
  const shop = await house.shop(100_000_000_000n)
  const { id: sandbox } = await house.world.sandbox(shop.project, paidFlow(shop.model, CALLS))
  await house.origin.control.setFaults([{ latencyMs: ORIGIN_MS }])
  await second!.stop()
  await third!.stop()
  const { secret } = shop.key
  const running = Array.from({ length: RUNS }, (_, n) =>
    runUntilOver(house, { sandbox, secret, input: { text: `scaled${n}.` }, idempotencyKey: `scaled-${n}` }),
  )
  const project = shop.project.id

  await until(async () => (await workersOf(house, project)) === 1)
  const alone = await countInSpan(house, project)

  await Promise.all([second!.start(), third!.start()])
  await until(async () => (await workersOf(house, project)) === 3)
  const together = await countInSpan(house, project)
  expect(await waiting(house, project)).toBeGreaterThan(0) // a backlog there still was

  await second!.stop() // in the middle of its calls
  expect(readFileSync(second!.logFile, 'utf8').match(/"clean":true/g)).toHaveLength(2)

  // Three times as many can do three times as much; half of the gain is for the noise of this machine.
  expect(alone).toBeGreaterThan(0)
  expect(together / alone).toBeGreaterThan(2)

  const records = await Promise.all(running)
  expect(records.filter(({ status }) => status !== 'Succeeded')).toEqual([])
  await house.untilNothingIsHeld(project, 30_000)
  expect(await house.findings([project])).toEqual([])
  const charges = (await house.invocations(project)).filter(({ state }) => state === 'Settled')
  expect(charges).toHaveLength(RUNS * CALLS)
  expect(new Set(charges.map(({ execution, node }) => `${execution} ${node}`)).size).toBe(RUNS * CALLS)
  // Who was taken away ended what it had begun: nothing was asked of the origin a second time.
  expect(await house.origin.control.countCalls()).toBe(RUNS * CALLS)
}, 300_000)

async function one<Row>({ world }: House, sql: string, values: unknown[]): Promise<Row> {
  return (await world.run(sql, values)).rows[0] as Row
}

/** Who has paid nodes of the project under way. */
async function workersOf(house: House, project: string): Promise<number> {
  const { holders } = await one<{ holders: number }>(
    house,
    `SELECT count(DISTINCT holder)::int AS holders FROM money.execution_nodes
      WHERE project = $1 AND kind = 'product.chat' AND state = 'Running'`,
    [project],
  )
  return holders
}

async function waiting(house: House, project: string): Promise<number> {
  const { ready } = await one<{ ready: number }>(
    house,
    `SELECT count(*)::int AS ready FROM money.execution_nodes WHERE project = $1 AND kind = 'product.chat' AND state = 'Ready'`,
    [project],
  )
  return ready
}

/** How many calls of nodes ended in the next SPAN_S seconds of the database's clock. */
async function countInSpan(house: House, project: string): Promise<number> {
  const { begin } = await one<{ begin: string }>(house, 'SELECT clock_timestamp()::text AS begin', [])
  const span = [begin, SPAN_S]
  await until(
    async () =>
      (
        await one<{ over: boolean }>(
          house,
          `SELECT clock_timestamp() > $1::timestamptz + $2 * interval '1 s' AS over`,
          span,
        )
      ).over,
  )
  const { ended } = await one<{ ended: number }>(
    house,
    `SELECT count(*)::int AS ended FROM money.execution_nodes
      WHERE project = $3 AND kind = 'product.chat' AND completed_at BETWEEN $1::timestamptz AND $1::timestamptz + $2 * interval '1 s'`,
    [...span, project],
  )
  return ended
}

async function until(so: () => Promise<boolean>): Promise<void> {
  while (!(await so())) await new Promise((resolve) => setTimeout(resolve, 50))
}
