import { randomUUID } from 'node:crypto'
import { describe, expect, onTestFinished } from 'vitest'
import type { Fixture, KeyFixture } from '@gateway/testbed/fixture'
import type { Replica } from '../fixtures/replica.ts'
import { insertNodes, insertExecution, nodeItem, type HeldNode } from '../fixtures/execution-rows.ts'
import { openTenant, test } from '../fixtures/ledger-test.ts'
import { openCountingSession, type Work } from '../fixtures/count-work.ts'
import type { AdmissionItem, ClosingItem, Waiting } from './waiting-items.ts'

// A session plans a statement once, by the table sizes that Postgres last knew. Ledgers start on empty tables and run
// for months: an early plan must not scan a whole table, or every pair of rows, once there are many rows.

const FEW = 32
const MANY = 256
const ROWS = 30_000

type Session = Awaited<ReturnType<typeof openCountingSession>>
type Sort = 'admit' | 'repeat' | 'close' | 'close again' | 'refuse' | 'bury'
type NodeSort =
  | 'admit nodes'
  | 'admit nodes under ceilings'
  | 'repeat nodes'
  | 'fence nodes'
  | 'close nodes'
  | 'close nodes again'
type OneSort = 'admit one' | 'settle one'
type Costs<S extends string = Sort | NodeSort> = Record<S, Work>

describe('the work of a batch', () => {
  test('does not grow with the tables, nor faster than its items, whenever its statements were planned', async ({
    database,
    fixture,
    replica,
  }) => {
    await withoutAutovacuum(fixture)
    await fixture.run('SET enable_seqscan = off') // else foreign-key checks of the filler rows scan small tables
    await fixture.run('ANALYZE')
    const setup = await buildSetup(fixture)
    const early = await openSession(database.adminUrl)
    await costsOf(early, replica, setup, FEW) // plans every statement
    const few = await costsOf(early, replica, setup, FEW)
    const many = await costsOf(early, replica, setup, MANY)
    const one = await costsOfOne(early, replica, setup)
    expectNoMore(many, few)

    await fillTables(fixture, setup.free.id)
    expectNoMore(await costsOf(early, replica, setup, MANY), many)
    expectNoMore(await costsOfOne(early, replica, setup), one)
    const late = await openSession(database.adminUrl)
    expectNoMore(await costsOf(late, replica, setup, MANY), many)
    expectNoMore(await costsOfOne(late, replica, setup), one)
    await fixture.run('ANALYZE')
    expectNoMore(await costsOf(early, replica, setup, MANY), many)
    const latest = await openSession(database.adminUrl)
    expectNoMore(await costsOf(latest, replica, setup, MANY), many)
    expectNoMore(await costsOfOne(latest, replica, setup), one)
  })
})

async function openSession(adminUrl: string): Promise<Session> {
  const session = await openCountingSession(adminUrl)
  onTestFinished(session.close)
  return session
}

interface Setup {
  fixture: Fixture
  project: string
  owner: string
  product: string
  free: KeyFixture
  limited: KeyFixture
  poor: { key: KeyFixture; product: string }
}

async function buildSetup(fixture: Fixture): Promise<Setup> {
  const { owners, project, product, key } = await openTenant(fixture, 100_000_000n)
  const limit = { micro: 90_000_000n, reset: 'monthly' } as const
  return {
    fixture,
    project: project.id,
    owner: owners.owner,
    product,
    free: key,
    limited: await fixture.key({ project, by: owners.owner, limit }),
    poor: await openTenant(fixture, 0n),
  }
}

/** Returns the work per item of one batch of each sort, each with `size` items. */
async function costsOf(session: Session, replica: Replica, setup: Setup, size: number): Promise<Costs> {
  const items = Array.from({ length: size }, (_, n) =>
    replica.item(n % 2 ? setup.limited : setup.free, setup.product, n % 4 ? {} : keyed(randomUUID())),
  )
  const repeats = items
    .filter(({ idempotency }) => idempotency !== null)
    .map((item) => ({ ...item, id: `${item.id}-2` }))
  const refused = items.map((_, n) => replica.item(setup.poor.key, setup.poor.product, n % 2 ? keyed('copy') : {}))
  const closings = items.map<ClosingItem>(({ id }, n) =>
    n % 2
      ? { op: 'settle', id, usage: { promptTokens: 1, completionTokens: 1, estimated: false }, answer: null }
      : { op: 'release', id, reason: 'test' },
  )
  const strange = items.map<ClosingItem>(({ id }, n) =>
    n % 2 ? { op: 'release', id: `${id}-3`, reason: 'test' } : { op: 'expire', id: `${id}-4` },
  )
  return {
    admit: await workOf(session, items, [], ['admitted']),
    repeat: await workOf(session, repeats, [], ['running']),
    close: await workOf(session, [], closings, ['settled', 'released']),
    'close again': await workOf(session, [], closings, ['settled', 'released']),
    refuse: await workOf(session, refused, [], ['insufficient_budget']),
    bury: await workOf(session, [], strange, ['released', 'unknown']),
    ...(await nodeCostsOf(session, replica, setup, size)),
  }
}

/** The same for batches of one item, which money.run_one decides. */
async function costsOfOne(session: Session, replica: Replica, { limited, product }: Setup): Promise<Costs<OneSort>> {
  const item = replica.item(limited, product, keyed(randomUUID()))
  const usage = { promptTokens: 1, completionTokens: 1, estimated: false }
  return {
    'admit one': await workOf(session, [item], [], ['admitted']),
    'settle one': await workOf(session, [], [{ op: 'settle', id: item.id, usage, answer: null }], ['settled']),
  }
}

const NODES_A_EXECUTION = 8

/** The same for nodes, in executions of a key with a limit, of a key without one, and of a user. */
async function nodeCostsOf(
  session: Session,
  replica: Replica,
  { fixture, project, owner, product, free, limited }: Setup,
  size: number,
): Promise<Pick<Costs, NodeSort>> {
  const nodes: HeldNode[] = []
  const runners = [{ key: free.id }, { key: limited.id }, { user: owner }]
  while (nodes.length < size) {
    const execution = await insertExecution(
      fixture,
      project,
      runners[(nodes.length / NODES_A_EXECUTION) % runners.length]!,
    )
    nodes.push(...(await insertNodes(fixture, { execution, project, count: NODES_A_EXECUTION })))
  }
  const items = nodes.map((node) => nodeItem(replica, node, product))
  const lost = items.map((item) => ({ ...item, id: `${item.id}-2`, lease: 'lost' }))
  const closings = nodes.map(({ reservation }, n) => ({
    id: reservation,
    usage: n % 2 ? { promptTokens: 1, completionTokens: 1 } : null,
  }))
  const close = async () => {
    const { perItem, outcomes } = await session.countNodes([project], closings)
    expect(outcomes).toEqual(new Set(['settled', 'released']))
    return perItem
  }
  const limitedNodes: HeldNode[] = []
  while (limitedNodes.length < size) {
    const execution = await insertExecution(fixture, project, { key: free.id }, 1_000_000n)
    const some = await insertNodes(fixture, { execution, project, count: NODES_A_EXECUTION })
    limitedNodes.push(...some)
  }
  const underCeilings = limitedNodes.map((node) => nodeItem(replica, node, product))
  return {
    'admit nodes under ceilings': await workOf(session, underCeilings, [], ['admitted']),
    'admit nodes': await workOf(session, items, [], ['admitted']),
    'repeat nodes': await workOf(session, items, [], ['again']),
    'fence nodes': await workOf(session, lost, [], ['fenced']),
    'close nodes': await close(),
    'close nodes again': await close(),
  }
}

async function workOf(session: Session, admissions: AdmissionItem[], closings: ClosingItem[], expected: string[]) {
  const { perItem, outcomes } = await session.count({
    admissions: admissions.map(waiting),
    closings: closings.map(waiting),
  })
  expect(outcomes).toEqual(new Set(expected))
  return perItem
}

/**
 * Rows may differ only by the fixed cost of a batch. Pages have more slack, because an index sometimes gains a level.
 */
function expectNoMore<S extends string>(now: Costs<S>, before: Costs<S>): void {
  for (const sort of Object.keys(before) as S[]) {
    expect(before[sort].rows, `rows to ${sort}`).toBeGreaterThan(1)
    expect(now[sort].rows / before[sort].rows, `rows to ${sort}`).toBeLessThan(1.5)
    expect(now[sort].pages / before[sort].pages, `pages to ${sort}`).toBeLessThan(4)
  }
}

/** Rows of other tenants, as a year of calls leaves them. `n` is the number of the row. */
const FILLS: [table: string, columns: string, values: string][] = [
  [
    'money.reservations',
    '(id, invocation, attempt, project, key, lineage, window_start, product, instance, micro, output_cap, prompt_pico, completion_pico, request_pico, keyed, admitted_at, deadline_at)',
    `'r' || n, 'r' || n, 1, 'p' || n % 500, 'k', 'k', NULL, 'm', 'h1', 5, 1, 0, 0, 0, false, now(), now() + interval '1 hour'`,
  ],
  [
    'money.attempts',
    '(id, invocation, attempt, state, project, key, lineage, product, instance, reserved_micro, charged_micro, admitted_at, closed_at)',
    `'i' || n, 'i' || n, 1, 'Settled', 'p' || n % 500, 'k', 'k', 'm', 'h1', 5, 5, now(), now()`,
  ],
  [
    'money.executions',
    '(id, project, sandbox, revision, key, lineage, surface, status, created_at, started_at, deadline_at)',
    `'e' || n, 'p' || n % 500, 'sbx-' || n % 700, 1, 'k', 'k', 'invoke', 'Running', now(), now(), now()`,
  ],
  [
    'money.execution_nodes',
    '(execution, ordinal, node, kind, project, sources, state, instance, lease, call, reservation, claimed_at)',
    `'e' || n, 1, 'n0', 'product.chat', 'p' || n % 500, '{}', 'Running', 'h' || n % 90, 'l' || n, 'r' || n, 'r' || n, now()`,
  ],
  [
    'money.attempts',
    '(id, invocation, attempt, state, project, key, lineage, product, instance, reserved_micro, charged_micro, admitted_at, closed_at, execution, node)',
    `'c' || n, 'c' || n, 1, 'Settled', 'p' || n % 500, 'k', 'k', 'm', 'h1', 5, 5, now(), now(), 'e' || n, 'n0'`,
  ],
  ['money.journal', '', `'p' || n % 500, n, 'settle', 'i' || n, 0, -5, 5, 0, now()`],
  ['money.idempotency_keys', '', `'p' || n % 500, 'chat', 'k' || n, sha256(n::text::bytea), 'i' || n, 'i' || n, now()`],
  ['money.wallets', '(project, funded)', `'p' || n, 100`],
  ['money.meters', '', `'l' || n, 'p' || n % 500, now(), 100, 0, 0`],
  [
    'money.instances',
    '(id, service, started_at, heartbeat_at, dead_after_ms, ended_at)',
    `'h' || n, 'gateway', now(), now(), 15000, now()`,
  ],
  ['control.users', '(id, email, name)', `'usr' || n, 'usr' || n || '@example.test', 'P'`],
  ['control.project_grants', '(project, user_id, role)', `project, 'usr' || n, 'Project Consumer'`],
  [
    'control.keys',
    '(id, hash, prefix, name, tenant, project, lineage, policy, created_by, expires_at, expiry_days)',
    `'k' || n, sha256(n::text::bytea), prefix, name, tenant, project, 'k' || n, policy, created_by, expires_at, expiry_days`,
  ],
]

async function fillTables(fixture: Fixture, likeKey: string): Promise<void> {
  for (const [table, columns, values] of FILLS)
    await fixture.run(
      `INSERT INTO ${table} ${columns} SELECT ${values} FROM generate_series(1, ${ROWS}) n, control.keys k WHERE k.id = $1`,
      [likeKey],
    )
}

/** Turns autovacuum off, which would update the table statistics within a minute. */
async function withoutAutovacuum(fixture: Fixture): Promise<void> {
  const tables = FILLS.map(([table]) => `'${table}'::regclass`).join(', ')
  const { rows } = await fixture.run(
    `SELECT c.oid::regclass::text AS name FROM pg_class c
      WHERE c.relkind = 'r' AND (c.oid IN (${tables}) OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent IN (${tables})))`,
  )
  for (const { name } of rows) await fixture.run(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`)
}

const keyed = (key: string) => ({ idempotency: { key: `plans ${key}`, fingerprint: 'a'.repeat(64) } })

function waiting<T extends AdmissionItem | ClosingItem>(item: T): Waiting<T> {
  return { item, sinceMs: 0, dropAtMs: Infinity, deferrals: 0, outcomeUnknown: false, answer: () => {} }
}
