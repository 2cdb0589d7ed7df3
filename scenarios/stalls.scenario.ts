import { expect } from 'vitest'
import type { ExecutionRecord } from '@gateway/api/execution'
import { liveTest } from '@gateway/testbed/live-test'
import { standStill } from '@gateway/testbed/private-servers'
import { processOf } from '@gateway/testbed/test-program'
import { runUntilOver } from './src/executions.ts'
import { expectOrder, keyedTenant, startKeyedCalls } from './src/keyed-calls.ts'
import { paidFlow } from './src/paid-flows.ts'
import { openLiveStack, type Stack } from './src/stack.ts'

// Ledgers and Postgres are paused while a slow model serves flows and chats, for less and more than the time after which
// a silent worker counts as dead. No live process is declared dead: no call is made twice, no execution fails, and every response was
// charged.

const CHAT_CALLERS = 12
const MAX_CONCURRENT_EXECUTIONS = 8
const PAID_NODES = 2
const MODEL_MS = 3_000

/** Below, at and above the three seconds after which a silent worker counts as dead. */
const STALLS_S = [2, 3, 5]
/** Pauses of all ledgers together, while Postgres and its clock continue. */
const STALLS_OF_ALL_S = [4, 10]

const test = liveTest.extend('stack', async ({ postgresServer, redisServer }, { onCleanup }) => {
  const stack = await openLiveStack({
    adminUrl: postgresServer.adminUrl,
    ledgerUrl: postgresServer.ledgerUrl,
    redisUrl: redisServer.url,
    ledgers: 2,
    gateways: 2,
    workers: 2,
    processes: ['ledger-0', 'ledger-1'],
  })
  onCleanup(stack.close)
  return stack
})

test('pauses of a ledger, Postgres or all ledgers for 2 to 10 s repeat no call, fail nothing, and lose no charge', async ({
  stack,
  postgresServer,
}) => {
  const tenant = await keyedTenant(stack)
  const { id: sandbox } = await stack.fixture.sandbox(tenant.project, paidFlow(tenant.model, PAID_NODES))
  await stack.provider.control.setFaults([{ latencyMs: MODEL_MS }])
  const calls = startKeyedCalls(stack, tenant, CHAT_CALLERS)
  const flows = startFlows(stack, { sandbox, secret: tenant.key.secret })

  const [one, other] = stack.ledgers.map((ledger) => processOf(ledger).pid) as [number, number]
  const stalls: [what: string, pause: (ms: number) => Promise<void>, seconds: number][] = [
    ...STALLS_S.map((s): (typeof stalls)[number] => [
      'one of two ledgers',
      (ms) => standStill([s % 2 ? one : other], ms),
      s,
    ]),
    ...STALLS_S.map((s): (typeof stalls)[number] => ['Postgres', postgresServer.pause, s]),
    ...STALLS_OF_ALL_S.map((s): (typeof stalls)[number] => ['both ledgers', (ms) => standStill([one, other], ms), s]),
  ]
  for (const [what, pause, seconds] of stalls) {
    await Promise.all([calls.answered(calls.count() + CHAT_CALLERS / 2), flows.ended(1)])
    await pause(seconds * 1_000)
    const found = await stack.fixture.run('SELECT id, service FROM money.instances WHERE ended_at IS NOT NULL')
    expect(found.rows, `declared dead when ${what} paused for ${seconds} s`).toEqual([])
  }

  await Promise.all([calls.answered(calls.count() + CHAT_CALLERS), flows.ended(MAX_CONCURRENT_EXECUTIONS)])
  await calls.stop()
  const records = await flows.stop()
  expect(records.filter(({ status }) => status !== 'Succeeded')).toEqual([])
  await expectOrder(stack, tenant, calls)
  expect((await stack.fixture.run('SELECT * FROM money.write_offs')).rows).toEqual([])
  expect((await stack.fixture.run('SELECT id FROM money.instances WHERE ended_at IS NOT NULL')).rows).toEqual([])

  const asked = Map.groupBy(await stack.provider.control.calls(), ({ prompt }) => prompt)
  expect([...asked].filter(([, times]) => times.length > 1).map(([prompt]) => prompt)).toEqual([])
  const ofFlows = [...asked.keys()].filter((prompt) => prompt.includes(MARK))
  expect(ofFlows).toHaveLength(records.length * PAID_NODES)
}, 300_000)

const MARK = 'stalled-'

/** Starts executions continuously, MAX_CONCURRENT_EXECUTIONS at a time, and repeats each under its key until it has ended. */
function startFlows(stack: Stack, { sandbox, secret }: { sandbox: string; secret: string }) {
  const records: ExecutionRecord[] = []
  let going = true
  let next = 0
  const all = Array.from({ length: MAX_CONCURRENT_EXECUTIONS }, async () => {
    while (going) {
      const mark = `${MARK}${next++}`
      records.push(await runUntilOver(stack, { sandbox, secret, input: { text: `${mark}.` }, idempotencyKey: mark }))
    }
  })
  return {
    /** Resolves once this many more executions have ended. */
    async ended(count: number): Promise<void> {
      for (const enough = records.length + count; records.length < enough;)
        await new Promise((resolve) => setTimeout(resolve, 20))
    },
    async stop(): Promise<ExecutionRecord[]> {
      going = false
      await Promise.all(all)
      return records
    },
  }
}
