import type { Graph } from '@gateway/api/graph'
import { consoleTest } from '../console.fixture.ts'

/** Test with flows that a user can execute. */
export const executionTest = consoleTest.extend('flow', async ({ stack, fixture, services }) => {
  const product = await fixture.product()
  await fixture.assign(stack.project, product)
  await fixture.fund(stack.project, 1_000_000n)
  const made = async (graph: Graph) => {
    const sandbox = await fixture.sandbox({ id: stack.project }, graph)
    const path = `${stack.path}/sandboxes/${sandbox.id}`
    return {
      ...sandbox,
      path,
      execute: (input: unknown, more: object = {}) => stack.owner.post(`${path}/execute`, { input, ...more }),
      /** Executes the flow through the gateway, with NDJSON progress. */
      follow: (input: unknown, signal: AbortSignal | null = null) =>
        fetch(`${services.gateways[0]!.url}${path}/execute`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${stack.owner.token}`, Accept: 'application/x-ndjson' },
          body: JSON.stringify({ input }),
          signal,
        }),
    }
  }
  return { product, made }
})

export const input = { text: 'Hello' }
