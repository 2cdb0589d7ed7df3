import { expect } from 'vitest'
import { consoleTest, outcomeOf, type Caller } from '../console.fixture.ts'
import { ROWS_A_PAGE } from './found-rows.ts'
import { type CallFilters, findCalls } from '../money/invocations.ts'
import { findEntries } from '../audit/list-audit.ts'
import { type ExecutionFilters, findExecutions } from '../executions/executions.ts'
import type { Prisma } from '@gateway/database/client'
import { expectRowsRead } from './rows-read.fixture.ts'

// Filtered lists: their results, their paging, and that no page scans a large table.

const test = consoleTest
  /** Calls of a project, one second apart, newest last. */
  .extend('calls', async ({ fixture, stack }) => {
    const keys = { one: fixture.id('key'), other: fixture.id('key') }
    const execution = fixture.id('exe')
    const begin = Date.parse('2026-10-01T00:00:00Z')
    const at = (second: number) => new Date(begin + second * 1000).toISOString()
    const add = async (second: number, call: { key: string; product: string; state: string; execution?: string }) => {
      const id = fixture.id('inv')
      const node = call.execution === undefined ? null : 'draft'
      await fixture.run(
        `INSERT INTO money.attempts (id, invocation, attempt, state, reason, project, key, lineage, product, execution, node, admitted_at, closed_at)
         VALUES ($1, $1, 1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $9::timestamptz + interval '1.5 s')`,
        [id, call.state, reasonOf(call.state), stack.project, call.key, call.product, call.execution, node, at(second)],
      )
      return id
    }
    const made = [
      await add(0, { key: keys.one, product: 'acme/a', state: 'Settled' }),
      await add(1, { key: keys.one, product: 'acme/b', state: 'Released' }),
      await add(2, { key: keys.other, product: 'acme/a', state: 'Settled', execution }),
      await add(3, { key: keys.other, product: 'acme/a', state: 'Released' }),
    ]
    return { made, keys, execution, at, path: `${stack.projectPath}/invocations` }
  })

const reasonOf = (state: string) => (state === 'Released' ? 'provider acme-eu: refused: 401' : null)

/** Reads a list page by page and returns its ids. */
async function idsOf(caller: Caller, path: string, query: string, limit = 1): Promise<string[]> {
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor && `&cursor=${encodeURIComponent(cursor)}`
    const { status, body } = await caller.get(`${path}?limit=${limit}&${query}${from}`)
    expect(status).toBe(200)
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.nextCursor
  }
  return seen
}

test('filters calls by key, model, state, execution and time, alone and combined', async ({ stack, calls }) => {
  const { made, keys, execution, at } = calls
  const found = async (query: string) => (await idsOf(stack.owner, calls.path, query)).map((id) => made.indexOf(id))
  expect(await found('')).toEqual([3, 2, 1, 0])
  expect(await found(`key=${keys.one}`)).toEqual([1, 0])
  expect(await found('model=acme/a')).toEqual([3, 2, 0])
  expect(await found('state=Released')).toEqual([3, 1])
  expect(await found('state=Open')).toEqual([])
  expect(await found(`execution=${execution}`)).toEqual([2])
  expect(await found(`from=${at(1)}&to=${at(3)}`)).toEqual([2, 1])
  expect(await found(`key=${keys.other}&model=acme/a&state=Settled`)).toEqual([2])
  expect(await found(`execution=${execution}&key=${keys.one}`)).toEqual([])
})

test('a call record has closing time, duration and a release reason that does not name the provider', async ({
  stack,
  calls,
}) => {
  const { body } = await stack.owner.get(`${calls.path}/${calls.made[1]}`)
  const closed = { closedAt: '2026-10-01T00:00:02.500Z', durationMs: 1_500 }
  expect(body).toMatchObject({ state: 'Released', reason: 'provider_failed', ...closed })
  expect(JSON.stringify(body)).not.toContain('acme-eu')
  expect((await stack.owner.get(`${calls.path}/${calls.made[0]}`)).body.reason).toBeNull()
})

test('finds no calls by a key of another project, and none by execution for a Project Viewer', async ({
  stack,
  calls,
  fixture,
}) => {
  const other = await fixture.project({ ...stack, owner: stack.owner.id })
  const elsewhere = `${stack.path}/projects/${other.id}/invocations`
  for (const query of [`key=${calls.keys.one}`, `execution=${calls.execution}`])
    expect((await stack.owner.get(`${elsewhere}?${query}`)).body).toEqual({ data: [], nextCursor: null })
  const viewer = await stack.member({ project: 'Project Viewer' })
  const hidden = await viewer.get(`${calls.path}?execution=${calls.execution}`)
  expect(hidden.body).toEqual({ data: [], nextCursor: null })
})

test('a page by a key of another project has no cursor, however many calls the key has', async ({ stack, fixture }) => {
  const other = await fixture.project({ ...stack, owner: stack.owner.id })
  const key = fixture.id('key')
  await fixture.run(
    `INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, product, admitted_at, closed_at)
     SELECT $1 || n, $1 || n, 1, 'Settled', $2, $3, $3, 'acme/a', i.at, i.at
       FROM generate_series(1, $4::integer) n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 second' AS at) i`,
    [fixture.id('inv'), other.id, key, ROWS_A_PAGE],
  )
  const { body } = await stack.owner.get(`${stack.projectPath}/invocations?key=${key}`)
  expect(body).toEqual({ data: [], nextCursor: null })
})

test('a cursor continues from the same position with different filters', async ({ stack, calls }) => {
  const { body } = await stack.owner.get(`${calls.path}?limit=2`)
  const rest = await stack.owner.get(`${calls.path}?state=Released&cursor=${body.nextCursor}`)
  expect(rest.body).toMatchObject({ data: [{ id: calls.made[1] }], nextCursor: null })
})

test('rejects a cursor of another list and a period that ends before it starts [invalid_request]', async ({
  stack,
  calls,
}) => {
  const { nextCursor } = (await stack.owner.get(`${calls.path}?limit=1`)).body
  const paths = [
    `${calls.path}?cursor=1760000000000.exe_1`,
    `${stack.path}/audit?cursor=${nextCursor}`,
    `${stack.path}/keys?cursor=${nextCursor}`,
    `${stack.path}/keys?cursor=${stack.project}`,
    `${stack.path}/projects?cursor=key_1`,
    `${calls.path}?from=${calls.at(1)}&to=${calls.at(1)}`,
    `${stack.path}/audit?from=${calls.at(2)}&to=${calls.at(1)}`,
    `${calls.path}?state=Lost`,
  ]
  for (const path of paths)
    expect([path, outcomeOf(await stack.owner.get(path))]).toEqual([path, '400 invalid_request'])
})

test('filters the audit by user, action, subject and time', async ({ stack, fixture }) => {
  const admin = await stack.member({ tenant: 'Admin' })
  const { id: first } = (await stack.owner.post(`${stack.path}/teams`, { name: 'One' })).body
  const { id: second } = (await admin.post(`${stack.path}/teams`, { name: 'Two' })).body
  await admin.delete(`${stack.path}/teams/${first}`)
  const found = async (query: string) => {
    const ids = new Set(await idsOf(stack.owner, `${stack.path}/audit`, query))
    const { body } = await stack.owner.get(`${stack.path}/audit`)
    const entries = body.data as { id: string; action: string; subject: string }[]
    return entries.filter(({ id }) => ids.has(id)).map(({ action, subject }) => `${action} ${subject}`)
  }
  expect(await found(`user=${admin.id}`)).toEqual([`team.delete ${first}`, `team.create ${second}`])
  expect(await found(`subject=${first}`)).toEqual([`team.delete ${first}`, `team.create ${first}`])
  expect(await found('action=team.create')).toEqual([`team.create ${second}`, `team.create ${first}`])
  expect(await found(`user=${admin.id}&subject=${first}&action=team.create`)).toEqual([])
  await fixture.run(
    `INSERT INTO control.audit (tenant, at, action, subject) VALUES ($1, '2020-01-01', 'old', 'thing')`,
    [stack.tenant],
  )
  expect(
    await idsOf(stack.owner, `${stack.path}/audit`, 'from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z'),
  ).toHaveLength(1)
})

test('finds no audit entries by a sandbox product that the reader may not use', async ({ stack }) => {
  const sandbox = (await stack.owner.post(`${stack.projectPath}/sandboxes`, { name: 'Private' })).body.id as string
  const path = `${stack.path}/audit?subject=${sandbox}`
  expect((await stack.owner.get(path)).body.data).toMatchObject([{ subject: sandbox }])
  const admin = await stack.member({ tenant: 'Admin' })
  expect((await admin.get(path)).body).toEqual({ data: [], nextCursor: null })
})

test('filters keys by state', async ({ stack, fixture }) => {
  const { path, project, tenant, team, owner } = stack
  const of = { id: project, tenant, team }
  const ids = {
    Active: (await fixture.key({ project: of, by: owner.id })).id,
    Expired: (await fixture.key({ project: of, by: owner.id, expiresInMs: -1 })).id,
    Revoked: (await fixture.key({ project: of, by: owner.id, revoked: true })).id,
    NeedsReissue: (await fixture.key({ project: null, tenant, by: owner.id })).id,
    Rotated: (await fixture.key({ project: of, by: owner.id })).id,
  }
  await fixture.run('UPDATE control.keys SET rotated_to = $2 WHERE id = $1', [ids.Rotated, fixture.id('key')])
  for (const [state, id] of Object.entries(ids))
    expect((await owner.get(`${path}/keys?state=${state}`)).body.data).toMatchObject([{ id, state }])
})

test('a page of a large list scans a bounded number of rows under any filter, and the next page continues after them', async ({
  stack,
  fixture,
  database,
}) => {
  const rare = await fillBooks(fixture, stack.project, stack.tenant)
  const { openDatabase } = await import('@gateway/database/client')
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
  // The planner may choose an index that has rows of other tests between those of this one, of which there are 30,000.
  const expectBounded = (query: Prisma.Sql, filters: object, limit = 2 * ROWS_A_PAGE) =>
    expectRowsRead(prisma, query, { most: limit, what: JSON.stringify(filters) })
  try {
    const base: CallFilters = { project: stack.project, place: null, limit: 100 }
    const some: Partial<CallFilters>[] = [
      {},
      { model: 'acme/rare' },
      { state: 'Released' },
      { key: 'key_busy', model: 'acme/rare' },
      { key: 'key_none' },
      { execution: 'exe_none' },
      { from: new Date('2026-03-01'), to: new Date('2026-03-02') },
      { place: { at: new Date('2026-06-01'), id: 'inv_x' }, model: 'acme/rare' },
    ]
    for (const filters of some) await expectBounded(findCalls({ ...base, ...filters }), filters)
    const narrow = [
      {},
      { action: 'rare' },
      { user: 'usr_busy', action: 'rare' },
      { subject: 'thing_1' },
      { address: '203.0.113.7', outcome: 'refused' },
    ]
    for (const scope of [{ tenant: stack.tenant }, { ofUser: 'usr_busy' }, {}])
      for (const filters of narrow)
        await expectBounded(findEntries(scope, { place: null, limit: 100, ...filters }), { ...scope, ...filters })
    const executions: ExecutionFilters = { project: stack.project, place: null, limit: 100 }
    const few: Partial<ExecutionFilters>[] = [
      {},
      { state: 'Failed' },
      { state: 'Running' },
      { state: 'Admitted', sandbox: 'sbx_busy' },
      { sandbox: 'sbx_busy', state: 'Failed' },
      { sandbox: 'sbx_none' },
      { from: new Date('2026-03-01'), to: new Date('2026-03-02'), state: 'Failed' },
      { place: { at: new Date('2026-06-01'), id: 'exe_x' }, state: 'Failed' },
    ]
    for (const filters of few) {
      const limit = filters.state === 'Running' ? 10 : undefined
      await expectBounded(findExecutions({ ...executions, ...filters }), filters, limit)
    }
  } finally {
    await close()
  }
  const empty = await stack.owner.get(`${stack.projectPath}/invocations?model=acme/rare`)
  expect(empty.body.data).toEqual([])
  expect(empty.body.nextCursor).not.toBeNull()
  expect(await idsOf(stack.owner, `${stack.projectPath}/invocations`, 'model=acme/rare', 100)).toEqual([rare])
})

const BOOK = 30_000

/** Inserts thousands of calls of one busy key over months; returns the ID of the first, the only one of its model. */
async function fillBooks(
  fixture: { run: (sql: string, values?: unknown[]) => Promise<unknown>; id: (prefix: string) => string },
  project: string,
  tenant: string,
): Promise<string> {
  const rare = fixture.id('inv')
  await fixture.run(
    `INSERT INTO money.attempts (id, invocation, attempt, state, project, key, lineage, product, admitted_at, closed_at)
     SELECT i.id, i.id, 1, 'Settled', $1, 'key_busy', 'key_busy', CASE WHEN n = 0 THEN 'acme/rare' ELSE 'acme/common' END, i.at, i.at
       FROM generate_series(0, $2::integer) n,
            LATERAL (SELECT CASE WHEN n = 0 THEN $3 ELSE 'inv_book' || n END AS id,
                            timestamptz '2026-01-01' + n * interval '10 minutes' AS at) i`,
    [project, BOOK, rare],
  )
  await fixture.run(
    `INSERT INTO control.audit (tenant, at, user_id, action, subject)
     SELECT $1, timestamptz '2026-01-01' + n * interval '10 minutes', 'usr_busy', 'common', 'thing_' || n % 1000
       FROM generate_series(1, $2::integer) n`,
    [tenant, BOOK],
  )
  await fixture.run(
    `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, output, created_at, deadline_at, completed_at)
     SELECT 'exe_book' || n, $1, 'sbx_busy', 1, 'usr_busy', 'invoke', CASE WHEN n = 0 THEN 'Running' ELSE 'Succeeded' END,
            CASE WHEN n > 0 THEN '{}'::bytea END, i.at, i.at, CASE WHEN n > 0 THEN i.at END
       FROM generate_series(0, $2::integer) n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '10 minutes' AS at) i`,
    [project, BOOK],
  )
  await fixture.run('ANALYZE money.attempts, money.executions, control.audit')
  return rare
}
