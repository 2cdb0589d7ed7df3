import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'
import { ROWS_A_PAGE } from '../request/found-rows.ts'
import { echo } from '../sandboxes/graphs.fixture.ts'

const ended = { Succeeded: `'{}'`, Failed: 'NULL', Cancelled: 'NULL', Running: 'NULL' } as const

test('filters the executions of a sandbox product by state, revision and time, across pages', async ({
  stack,
  fixture,
}) => {
  const { id: sandbox } = await fixture.sandbox({ id: stack.project }, echo)
  const states = ['Succeeded', 'Failed', 'Cancelled', 'Running', 'Succeeded', 'Succeeded'] as const
  const ids: string[] = []
  for (const [n, state] of states.entries()) {
    const id = fixture.id('exe')
    ids.unshift(id)
    await fixture.run(
      `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, output, error, created_at, deadline_at, completed_at)
       VALUES ($1, $2, $3, $4, $5, 'invoke', $6, ${ended[state]}, $7, $8, now(), $9)`,
      [
        id,
        stack.project,
        sandbox,
        n < 3 ? 1 : 2,
        stack.owner.id,
        state,
        state === 'Failed' || state === 'Cancelled'
          ? Buffer.from('{"code":"node_failed","message":"","resolution":""}')
          : null,
        `2026-11-0${n + 1}T00:00:00Z`,
        state === 'Running' ? null : `2026-11-0${n + 1}T00:00:01Z`,
      ],
    )
  }
  const [sixth, fifth, fourth, third, second, first] = ids
  const list = async (query: string) => {
    const { body } = await stack.owner.get(`${stack.path}/sandboxes/${sandbox}/executions?${query}`)
    return (body.data as { id: string }[]).map(({ id }) => id)
  }
  expect(await list('')).toEqual(ids)
  expect(await list('state=Succeeded')).toEqual([sixth, fifth, first])
  expect(await list('state=Cancelled')).toEqual([third])
  expect(await list('revision=2')).toEqual([sixth, fifth, fourth])
  expect(await list('revision=1&state=Succeeded')).toEqual([first])
  expect(await list('from=2026-11-02T00:00:00Z&to=2026-11-05T00:00:00Z')).toEqual([fourth, third, second])
  const page = await stack.owner.get(`${stack.path}/sandboxes/${sandbox}/executions?state=Succeeded&limit=2`)
  expect(page.body.data).toMatchObject([{ id: sixth }, { id: fifth }])
  expect(await list(`state=Succeeded&limit=2&cursor=${page.body.nextCursor}`)).toEqual([first])
})

test('lists the executions of a project across its flows, filtered by state, flow and time, with who started them', async ({
  stack,
  fixture,
}) => {
  const project = { id: stack.project }
  const flows = [(await fixture.sandbox(project, echo)).id, (await fixture.sandbox(project, echo)).id]
  const states = ['Succeeded', 'Running', 'Succeeded', 'Admitted'] as const
  const ids: string[] = []
  for (const [n, state] of states.entries()) {
    const id = fixture.id('exe')
    ids.unshift(id)
    const byKey = n === 2
    await fixture.run(
      `INSERT INTO money.executions (id, project, sandbox, revision, key, lineage, user_id, surface, status, output, created_at, deadline_at, completed_at)
       VALUES ($1, $2, $3, 1, $4, $4, $5, 'invoke', $6, $7, $8, now(), $9)`,
      [
        id,
        stack.project,
        flows[n % 2],
        byKey ? 'key_1' : null,
        byKey ? null : stack.owner.id,
        state,
        state === 'Succeeded' ? Buffer.from('{}') : null,
        `2026-11-0${n + 1}T00:00:00Z`,
        state === 'Succeeded' ? `2026-11-0${n + 1}T00:00:01Z` : null,
      ],
    )
  }
  const [fourth, third, second, first] = ids
  const list = async (query: string) => {
    const { body } = await stack.owner.get(`${stack.projectPath}/executions?${query}`)
    return (body.data as { id: string }[]).map(({ id }) => id)
  }
  expect(await list('')).toEqual(ids)
  expect(await list('state=Succeeded')).toEqual([third, first])
  expect(await list('state=Running')).toEqual([second])
  expect(await list('state=Admitted')).toEqual([fourth])
  expect(await list(`sandbox=${flows[1]}`)).toEqual([fourth, second])
  expect(await list(`sandbox=${flows[1]}&state=Running`)).toEqual([second])
  expect(await list(`sandbox=${flows[0]}&state=Running`)).toEqual([])
  expect(await list('from=2026-11-02T00:00:00Z&to=2026-11-04T00:00:00Z')).toEqual([third, second])
  const page = await stack.owner.get(`${stack.projectPath}/executions?limit=2`)
  expect(page.body.data).toMatchObject([
    { id: fourth, sandbox: flows[1], key: null, user: stack.owner.id },
    { id: third, sandbox: flows[0], key: 'key_1', user: null },
  ])
  expect(await list(`limit=2&cursor=${page.body.nextCursor}`)).toEqual([second, first])
  const elsewhere = await fixture.project({ ...stack, owner: stack.owner.id })
  const { body } = await stack.owner.get(`${stack.path}/projects/${elsewhere.id}/executions?sandbox=${flows[0]}`)
  expect(body).toEqual({ data: [], nextCursor: null })
  const viewer = await stack.member({ project: 'Project Viewer' })
  expect(outcomeOf(await viewer.get(`${stack.projectPath}/executions`))).toBe('404 not_found')
})

test('a page by a flow of another project has no cursor, however many executions the flow has', async ({
  stack,
  fixture,
}) => {
  const other = await fixture.project({ ...stack, owner: stack.owner.id })
  const { id: sandbox } = await fixture.sandbox(other, echo)
  await fixture.run(
    `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, output, created_at, deadline_at, completed_at)
     SELECT $1 || n, $2, $3, 1, $4, 'invoke', 'Succeeded', '{}', i.at, i.at, i.at
       FROM generate_series(1, $5::integer) n, LATERAL (SELECT timestamptz '2026-01-01' + n * interval '1 second' AS at) i`,
    [fixture.id('exe'), other.id, sandbox, stack.owner.id, ROWS_A_PAGE],
  )
  const { body } = await stack.owner.get(`${stack.projectPath}/executions?sandbox=${sandbox}`)
  expect(body).toEqual({ data: [], nextCursor: null })
})

test.for([
  ['state=Ready', 'state'],
  ['from=2026-11-02T00:00:00Z&to=2026-11-02T00:00:00Z', 'from'],
  ['revision=1', 'revision'],
  ['cursor=1.inv_1', 'cursor'],
] as const)(
  'rejects an invalid filter on the executions of a project: %s [invalid_request]',
  async ([query, param], { stack }) => {
    const answer = await stack.owner.get(`${stack.projectPath}/executions?${query}`)
    expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', param])
  },
)

test.for([
  ['state=Ready', 'state'],
  ['revision=0', 'revision'],
  ['from=yesterday', 'from'],
  ['from=2026-11-02T00:00:00Z&to=2026-11-02T00:00:00Z', 'from'],
  ['status=Failed', 'status'],
] as const)(
  'rejects an invalid filter on the executions of a sandbox product: %s [invalid_request]',
  async ([query, param], { stack, fixture }) => {
    const { id } = await fixture.sandbox({ id: stack.project }, echo)
    const answer = await stack.owner.get(`${stack.path}/sandboxes/${id}/executions?${query}`)
    expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', param])
  },
)
