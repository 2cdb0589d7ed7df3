import { expect } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import type { Stack } from './stack.ts'

/** The charge of each execution is the sum of its calls in the books, each call was charged once, and the provider was asked for each. */
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
  // A call that was under way in a part that was killed is made again; one that had been recorded never is.
  expect(await stack.provider.control.countCalls()).toBeGreaterThanOrEqual(calls)
}
