import { expect } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import type { Stack } from './stack.ts'

/** Asserts that the charge of each execution is the sum of its calls, each charged once, and that the provider served each call. */
export async function expectPaidOnce(
  stack: Stack,
  project: string,
  records: Pick<ExecutionRecord, 'id' | 'chargedMicro' | 'childCalls'>[],
): Promise<void> {
  const { rows } = await stack.fixture.run(
    `SELECT execution, node, count(*)::int AS charges, sum(charged_micro)::int AS micro
       FROM money.attempts WHERE project = $1 AND state = 'Settled' GROUP BY execution, node`,
    [project],
  )
  const charges = rows as { execution: string; node: string; charges: number; micro: number }[]
  expect(charges.filter((row) => row.charges !== 1)).toEqual([])
  const paid = new Map<string, number>()
  for (const { execution, micro } of charges) paid.set(execution, (paid.get(execution) ?? 0) + micro)
  expect(records.filter(({ id, chargedMicro }) => chargedMicro !== (paid.get(id) ?? 0))).toEqual([])
  const calls = records.reduce((sum, { childCalls }) => sum + childCalls.length, 0)
  expect(charges).toHaveLength(calls)
  expect((await stack.wallet(project)).settled).toBe(BigInt([...paid.values()].reduce((sum, micro) => sum + micro, 0)))
  // A call in progress in a killed service is made again; a recorded one never is.
  expect(await stack.provider.control.countCalls()).toBeGreaterThanOrEqual(calls)
}
