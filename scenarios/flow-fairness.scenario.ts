import { describe, expect } from 'vitest'
import { liveTest } from '@gateway/testbed/live-test'
import { openBacklogFlow, startBacklog } from './src/backlog.ts'
import { openLiveStack } from './src/stack.ts'
import { runUntilOver } from './src/executions.ts'

// Projects share the queue, and one project's backlog must not delay a single execution of another. The test counts nodes, not time:
// while a node of the single execution waits for a worker, at most the backlog's share of the queue is claimed before it. Nodes chained
// to a running node delay no other project and aren't counted.

const BACKLOG = 600
const MAX_CONCURRENT_NODES = 16

/** Nodes chained, and each node through the queue (N6 of run-node.ts). */
const SLICES_MS = [200, 0]

const test = liveTest
  .extend('sliceMs', 0)
  .extend('stack', async ({ database, redisServer, sliceMs }, { onCleanup }) => {
    const stack = await openLiveStack({
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

describe.for(SLICES_MS)('fair queue with node slices of %d ms', (sliceMs) => {
  test.override('sliceMs', sliceMs)

  test(`${BACKLOG} queued executions of one project delay a single one of another by only a few nodes`, async ({
    stack,
  }) => {
    const backlog = await openBacklogFlow(stack)
    const lone = await openBacklogFlow(stack)
    await stack.provider.control.setFaults([{ latencyMs: 200 }])
    await startBacklog(stack, backlog, BACKLOG)
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
    // Each job ahead may also run the other nodes of its execution.
    const most = MAX_CONCURRENT_NODES * jobs.length
    process.stdout.write(
      `backlog nodes claimed before each node: ${jobs.map(({ before }) => before).join(', ')} (limit ${most})\n`,
    )
    expect(jobs[0]!.waiting).toBeGreaterThan(BACKLOG) // the backlog is still queued: an execution has several nodes
    for (const { before } of jobs) expect(before).toBeLessThanOrEqual(most)
  })
})
