import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'vitest'
import { paidFlow } from './paid-flows.ts'
import type { Stack } from './stack.ts'

const STARTERS = 48

export interface BacklogFlow {
  project: string
  sandbox: string
  secret: string
}

/** A project with a flow of one paid call, and a key that runs it. */
export async function openBacklogFlow(stack: Stack): Promise<BacklogFlow> {
  const owners = await stack.fixture.tenant()
  const project = await stack.fixture.project(owners, 100_000_000_000n)
  const product = await stack.fixture.publishProduct({ promptPico: 1_000_000n, completionPico: 1_000_000n })
  await stack.fixture.assign(project.id, product)
  const { id: sandbox } = await stack.fixture.sandbox(project, paidFlow(product, 1), { activate: true })
  const { secret } = await stack.fixture.key({ project, by: owners.owner })
  return { project: project.id, sandbox, secret }
}

/** Starts this many executions and disconnects from each once it is admitted. */
export async function startBacklog(stack: Stack, flow: BacklogFlow, count: number): Promise<void> {
  let next = 0
  const starters = Array.from({ length: STARTERS }, async () => {
    for (let n = next++; n < count; n = next++) await startOne(stack, flow, `backlog ${n}`)
  })
  await Promise.all(starters)
}

/** Retries under its idempotency key on 503. */
async function startOne(stack: Stack, { sandbox, secret }: BacklogFlow, text: string) {
  for (;;) {
    const left = new AbortController()
    const answer = await fetch(`${stack.gateways[0]!.url}/v1/sandbox/${sandbox}/invoke`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        accept: 'application/x-ndjson',
        'idempotency-key': text.replace(' ', '-'),
      },
      body: JSON.stringify({ input: { text } }),
      signal: left.signal,
    })
    left.abort()
    if (answer.status !== 503) return expect(answer.status).toBe(200)
    await delay(1_000 * Number(answer.headers.get('retry-after')))
  }
}
