import { expect } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import { harmedStackTest as test } from './src/harmed-stack-test.ts'
import type { ProcessStack } from './src/stack.ts'
import { ended, killed } from './src/kills.ts'
import { openPaidTenant } from './src/paid-tenant.ts'
import { openTokensOf } from './src/provider-tokens.ts'
import { runAndStop } from './src/stopped-execution.ts'

// Executions are stopped at any point while workers and ledgers are killed. Afterwards each has ended, nothing is reserved, the books
// add up, and the charges match what the provider answered for the settled nodes.

const EXECUTIONS = 500
const MAX_CONCURRENT = 24
const MOST_CALLS = 4
const LATENCY_MS = 40
/** When to stop the nth execution, from its admission to shortly after its end; null for every tenth, which isn't stopped. */
const stopAfterMs = (n: number) => (n % 10 === 0 ? null : (n * 37) % 229)

test(`${EXECUTIONS} executions stopped at any point while workers are killed each end and are charged for what was answered`, async ({
  stack,
}) => {
  const tenant = await openPaidTenant(stack, { mostCalls: MOST_CALLS, latencyMs: LATENCY_MS })
  const records: ExecutionRecord[] = []
  let next = 0
  const callers = Array.from({ length: MAX_CONCURRENT }, async () => {
    for (let n = next++; n < EXECUTIONS; n = next++) {
      const call = { sandbox: tenant.sandboxes[n % MOST_CALLS]!, secret: tenant.secret, input: { text: `run${n}.` } }
      records.push(await runAndStop(stack, { ...call, idempotencyKey: `stopped-${n}`, stopAfterMs: stopAfterMs(n) }))
    }
  })
  const { workers, ledgers } = stack
  const harms = [[workers[0]!], [ledgers[0]!], workers, [ledgers[1]!]]
  for (const [n, programs] of harms.entries()) {
    await ended(records, Math.floor(((n + 1) * EXECUTIONS) / (harms.length + 2)))
    await Promise.all(programs.map((program) => killed(program)))
  }
  await Promise.all(callers)

  expect(await stack.openReservations(tenant.project)).toBe(0)
  const by = Map.groupBy(records, ({ status }) => status)
  expect([...by.keys()].toSorted()).toEqual(['Cancelled', 'Succeeded'])
  expect(by.get('Cancelled')!.length).toBeGreaterThan(EXECUTIONS / 5)
  expect(by.get('Succeeded')!.length).toBeGreaterThanOrEqual(EXECUTIONS / 10)
  expect(by.get('Cancelled')!.filter(({ chargedMicro }) => chargedMicro > 0).length).toBeGreaterThan(0)
  expect(await stack.findings()).toEqual([])
  await expectChargedOnce(stack, tenant.project, records)
  await expectChargedAsAnswered(stack, tenant)
}, 300_000)

/** Asserts that the charge of each execution is the sum of its calls in the books, with no call charged twice. */
async function expectChargedOnce({ fixture, wallet }: ProcessStack, project: string, records: ExecutionRecord[]) {
  const { rows } = await fixture.run(
    `SELECT execution, count(*)::int AS charges, count(DISTINCT node)::int AS nodes, sum(charged_micro)::int AS micro
       FROM money.attempts WHERE project = $1 AND state = 'Settled' GROUP BY execution`,
    [project],
  )
  const charges = rows as { execution: string; charges: number; nodes: number; micro: number }[]
  expect(charges.filter((row) => row.charges !== row.nodes)).toEqual([])
  const paid = new Map(charges.map(({ execution, micro }) => [execution, micro]))
  expect(records.filter(({ id, chargedMicro }) => chargedMicro !== (paid.get(id) ?? 0))).toEqual([])
  const sum = records.reduce((micro, { chargedMicro }) => micro + chargedMicro, 0)
  expect((await wallet(project)).settled).toBe(BigInt(sum))
}

/**
 * Asserts that each settled node was charged the tokens that the provider answers to its prompt, which are deterministic, and that
 * nothing was served for an ended execution.
 */
async function expectChargedAsAnswered(stack: ProcessStack, { project }: { project: string }): Promise<void> {
  const { rows } = await stack.fixture.run(
    `SELECT convert_from(t.output, 'UTF8')::json ->> 'text' AS prompt, a.charged_micro::int AS micro,
            extract(epoch FROM e.completed_at)::float8 * 1000 AS ended_ms
       FROM money.execution_nodes t
       JOIN money.executions e ON e.id = t.execution
       LEFT JOIN money.attempts a ON a.execution = t.execution AND a.node = replace(t.node, 'ask', 'call')
                                 AND a.state = 'Settled'
      WHERE t.project = $1 AND t.kind = 'template' AND t.state = 'Succeeded'`,
    [project],
  )
  const asked = rows as { prompt: string; micro: number | null; ended_ms: number }[]
  const endedMs = new Map(asked.map(({ prompt, ended_ms }) => [prompt, ended_ms]))
  const calls = await stack.provider.control.calls()
  // A request sent just before its worker was aborted or killed may arrive later, with no one left to read the response.
  const served = calls.filter(({ outcome }) => outcome !== 'aborted')
  expect(served.filter(({ prompt, atMs }) => !(atMs <= endedMs.get(prompt)!))).toEqual([])
  const settled = asked.filter(({ micro }) => micro !== null)
  expect(settled.length).toBeGreaterThanOrEqual(EXECUTIONS / 10) // each that has succeeded has one
  await stack.provider.control.clearFaults()
  const tokensOf = await openTokensOf(stack) // one micro-USD each
  const answered: { prompt: string; micro: number | null }[] = []
  for (const { prompt } of settled) answered.push({ prompt, micro: await tokensOf(prompt) })
  expect(answered).toEqual(settled.map(({ prompt, micro }) => ({ prompt, micro })))
}
