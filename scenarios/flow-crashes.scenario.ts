import { Redis } from 'ioredis'
import { expect } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import { harmedStackTest as test } from './src/harmed-stack-test.ts'
import type { Stack } from './src/stack.ts'
import { ended, killed } from './src/kills.ts'
import { expectPaidOnce } from './src/paid-once.ts'
import { openPaidTenant } from './src/paid-tenant.ts'
import { runUntilOver } from './src/executions.ts'

// Every service is killed while executions with paid nodes run. Afterwards every execution has ended, nothing was charged twice, no
// completed node ran again, and the books add up.

const EXECUTIONS = 500
const MAX_CONCURRENT = 24
const MOST_CALLS = 8

// spec: 8.2/s1, 8.2/s2
test(`${EXECUTIONS} executions survive kills of every service: each ends and pays for each of its calls once`, async ({
  stack,
  postgresServer,
  redisServer,
}) => {
  const tenant = await openPaidTenant(stack, { mostCalls: MOST_CALLS, latencyMs: 20 })
  const records: ExecutionRecord[] = []
  let next = 0
  const callers = Array.from({ length: MAX_CONCURRENT }, async () => {
    for (let n = next++; n < EXECUTIONS; n = next++) {
      const sandbox = tenant.sandboxes[n % MOST_CALLS]!
      const mark = `run${n}.`
      const call = { sandbox, secret: tenant.secret, input: { text: mark }, idempotencyKey: `crash-run-${n}` }
      records.push(await runUntilOver(stack, call))
    }
  })

  const redis = new Redis(redisServer.url, { maxRetriesPerRequest: null })
  redis.on('error', () => {})
  const stopPostgres = () => postgresServer.stopImmediately().then(postgresServer.restart) // rolls back claims
  const harms: (() => Promise<unknown>)[] = [
    () => Promise.all(stack.workers.map((worker) => killed(worker))),
    stopPostgres,
    () => killed(stack.ledgers[0]!),
    () => redis.flushall(),
    () => killed(stack.workers[1]!),
    stopPostgres,
    () => killed(stack.gateways[0]!),
    () => redisServer.stopImmediately().then(redisServer.restart),
    stopPostgres,
    () => killed(stack.ledgers[1]!),
    () => redis.flushall(),
    () => killed(stack.gateways[1]!),
    () => killed(stack.workers[0]!),
  ]
  for (const [n, harm] of harms.entries()) {
    await ended(records, Math.floor(((n + 1) * EXECUTIONS) / (harms.length + 2)))
    await harm()
  }
  await Promise.all(callers)
  redis.disconnect()
  await stack.untilNothingIsReserved(tenant.project, 30_000)

  expect(records.map(({ status, error }) => (status === 'Succeeded' ? status : JSON.stringify(error)))).toEqual(
    Array.from({ length: EXECUTIONS }, () => 'Succeeded'),
  )
  expect(await stack.findings()).toEqual([])
  await expectPaidOnce(stack, tenant.project, records)
  await expectNothingRanAgain(stack, tenant.project)
}, 400_000)

/** Asserts that no call reached the provider for a node whose result had been recorded. */
async function expectNothingRanAgain(stack: Stack, project: string): Promise<void> {
  const { rows } = await stack.fixture.run(
    `SELECT n.node, convert_from(n.output, 'UTF8') AS output, n.execution
       FROM money.execution_nodes n WHERE n.project = $1 AND n.kind = 'template' AND n.state = 'Succeeded'`,
    [project],
  )
  const asks = rows as { execution: string; node: string; output: string }[]
  const { rows: callRows } = await stack.fixture.run(
    `SELECT execution, node, extract(epoch FROM completed_at)::float8 * 1000 AS at_ms
       FROM money.execution_nodes WHERE project = $1 AND kind = 'product.chat' AND state = 'Succeeded'`,
    [project],
  )
  const completedAt = new Map(
    (callRows as { execution: string; node: string; at_ms: number }[]).map((row) => [
      `${row.execution} ${row.node}`,
      row.at_ms,
    ]),
  )
  const nodeOf = new Map(
    asks.map(({ execution, node, output }) => [
      (JSON.parse(output) as { text: string }).text,
      `${execution} ${node.replace('ask', 'call')}`,
    ]),
  )
  const calls = (await stack.provider.control.calls()).map(({ prompt, atMs }) => ({ node: nodeOf.get(prompt)!, atMs }))
  expect(calls.filter(({ node }) => !completedAt.has(node))).toEqual([])
  expect(calls.filter(({ node, atMs }) => atMs > completedAt.get(node)!)).toEqual([])
}
