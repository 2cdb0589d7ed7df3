import { paidFlow } from './paid-flows.ts'
import type { Stack } from './stack.ts'

/**
 * A project with a product at one micro-USD per token, and sandbox products with 1 to `mostCalls` paid calls. The provider takes
 * `latencyMs` per call.
 */
export async function openPaidTenant(stack: Stack, { mostCalls, latencyMs }: { mostCalls: number; latencyMs: number }) {
  const owners = await stack.fixture.tenant()
  const project = await stack.fixture.project(owners, 100_000_000_000n)
  const product = await stack.fixture.publishProduct({ promptPico: 1_000_000n, completionPico: 1_000_000n })
  await stack.fixture.assign(project.id, product)
  const sandboxes: string[] = []
  for (let calls = 1; calls <= mostCalls; calls++)
    sandboxes.push((await stack.fixture.sandbox(project, paidFlow(product, calls), { activate: true })).id)
  await stack.provider.control.setFaults([{ latencyMs }])
  const { secret } = await stack.fixture.key({ project, by: owners.owner })
  return { ...owners, project: project.id, product, sandboxes, secret }
}
