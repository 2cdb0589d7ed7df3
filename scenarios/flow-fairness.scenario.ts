import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openStack, type Stack } from './src/stack.ts'
import { paidFlow } from './src/paid-flows.ts'
import { runUntilOver } from './src/executions.ts'

// The queue is shared, and one project's backlog in it must not delay another's single execution. Counted in nodes, not in time: while a
// node of the single execution waits for its worker, only what the backlog's share of the queue holds is taken up before it. What continues
// alongside a node that runs delays no one, and is not counted.

const BACKLOG = 2_000
const STARTERS = 48
const MAX_CONCURRENT_NODES = 16

/** With nodes chained, and with each of them through the queue (N6 of run-node.ts). */
const SLICES_MS = [200, 0]

const test = liveTest
  .extend('sliceMs', 0)
  .extend('stack', async ({ database, redisServer, sliceMs }, { onCleanup }) => {
    const stack = await openStack({
      adminUrl: database.adminUrl,
      ledgerUrl: database.ledgerUrl,
      redisUrl: redisServer.url,
      workers: 1,
      environment: {
        ledger: () => ({ MAX_CONCURRENT_NODES: String(MAX_CONCURRENT_NODES) }),
        worker: () => ({ NODE_SLICE_MS: String(sliceMs) }),
      },
    })
    onCleanup(stack.close)
    return stack
  })

describe.for(SLICES_MS)('with slices of %d ms', (sliceMs) => {
  test.override('sliceMs', sliceMs)

  test(`${BACKLOG} queued executions of one project delay another's single one by a few nodes only`, async ({
    stack,
  }) => {
    const backlog = await openFlow(stack)
    const lone = await openFlow(stack)
    await stack.provider.control.setFaults([{ latencyMs: 200 }])
    await startBacklog(stack, backlog)
    const record = await runUntilOver(stack, { ...lone, input: { text: 'alone' }, idempotencyKey: 'the-one-run' })
    expect(record.status).toBe('Succeeded')

    const { rows } = await stack.fixture.run(
      `SELECT (SELECT count(*) FROM money.execution_nodes n
              WHERE n.project = $2 AND n.claimed_at BETWEEN mine.enqueued_at AND mine.claimed_at)::int AS before,
            (SELECT count(*) FROM money.execution_nodes n
              WHERE n.project = $2 AND n.state IN ('Pending', 'Ready'))::int AS waiting
       FROM money.execution_nodes mine WHERE mine.execution = $1 AND mine.kind <> 'input' ORDER BY mine.ordinal`,
      [record.id, backlog.project],
    )
    const jobs = rows as { before: number; waiting: number }[]
    // Each job ahead may take the other nodes of its execution along.
    const most = MAX_CONCURRENT_NODES * jobs.length
    process.stdout.write(
      `nodes of the backlog before each node: ${jobs.map(({ before }) => before).join(', ')} of ${most}\n`,
    )
    expect(jobs[0]!.waiting).toBeGreaterThan(BACKLOG) // the backlog still waits, an execution having several nodes
    for (const { before } of jobs) expect(before).toBeLessThanOrEqual(most)
  })
})

async function openFlow(stack: Stack) {
  const owners = await stack.fixture.tenant()
  const project = await stack.fixture.project(owners, 100_000_000_000n)
  const product = await stack.fixture.publishProduct({ promptPico: 1_000_000n, completionPico: 1_000_000n })
  await stack.fixture.assign(project.id, product)
  const { id: sandbox } = await stack.fixture.sandbox(project, paidFlow(product, 1), { activate: true })
  const { secret } = await stack.fixture.key({ project, by: owners.owner })
  return { project: project.id, sandbox, secret }
}

/** Starts the executions of the backlog and leaves each as soon as it is admitted. */
async function startBacklog(stack: Stack, flow: Awaited<ReturnType<typeof openFlow>>): Promise<void> {
  let next = 0
  const starters = Array.from({ length: STARTERS }, async () => {
    for (let n = next++; n < BACKLOG; n = next++) await startOne(stack, flow, `backlog ${n}`)
  })
  await Promise.all(starters)
}

/** Repeats it under its idempotency key if asked to: what is tested here begins when all have been admitted. */
async function startOne(stack: Stack, { sandbox, secret }: Awaited<ReturnType<typeof openFlow>>, text: string) {
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
