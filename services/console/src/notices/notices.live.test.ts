import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

const wanted = { belowMicro: [5_000, 1_000], daysLeft: 3, keyPercents: [80, 100] }

test('replaces all alert thresholds at once, shows them to every grant and audits the change', async ({ stack }) => {
  const path = `${stack.projectPath}/notices/thresholds`
  const nothing = { belowMicro: [], daysLeft: null, keyPercents: [] }
  expect((await stack.owner.get(path)).body).toEqual(nothing)
  const mixed = { ...wanted, belowMicro: [1_000, 5_000], keyPercents: [100, 80] }
  expect((await stack.owner.put(path, mixed)).body).toEqual(wanted)
  const viewer = await stack.member({ project: 'Project Viewer' })
  expect((await viewer.get(path)).body).toEqual(wanted)
  expect((await stack.owner.put(path, nothing)).body).toEqual(nothing)
  const { body } = await stack.owner.get(`${stack.path}/audit`)
  const actions = body.data.map(({ action }: { action: string }) => action)
  expect(actions.filter((action: string) => action === 'notices.set_thresholds')).toHaveLength(2)
})

test.for([
  { belowMicro: [0] },
  { belowMicro: [1, 1] },
  { belowMicro: Array.from({ length: 11 }, (_, n) => n + 1) },
  { daysLeft: 0 },
  { daysLeft: undefined },
  { keyPercents: [101] },
  { keyPercents: 80 },
])('rejects alert thresholds with %j [invalid_request]', async (more, { stack }) => {
  const answer = await stack.owner.put(`${stack.projectPath}/notices/thresholds`, { ...wanted, ...more })
  expect(outcomeOf(answer)).toBe('400 invalid_request')
})

test('lists notices newest first, across pages', async ({ stack, fixture }) => {
  await fixture.run(
    `INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
     SELECT 'ntc_' || n || $1, CASE WHEN n = 9 THEN 'prj_other' ELSE $1 END, 'wallet.below', n, 7, '2026-11-20T09:00:00Z'::timestamptz + n / 2 * interval '1 second'
       FROM generate_series(1, 9) n`,
    [stack.project],
  )
  const read: { threshold: number }[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const path: string = `${stack.projectPath}/notices?limit=3${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
    const { body } = await stack.owner.get(path)
    read.push(...body.data)
    cursor = body.nextCursor
  }
  expect(read.map(({ threshold }) => threshold)).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
  expect(read[0]).toEqual({
    id: `ntc_8${stack.project}`,
    kind: 'wallet.below',
    threshold: 8,
    at: '2026-11-20T09:00:04.000Z',
    open: true,
    remainingMicro: 7,
    key: null,
    windowStart: null,
    limitMicro: null,
    spentMicro: null,
    details: {},
    deliveries: [],
  })
})

test('a notice is open while its threshold is crossed and no newer notice reports the same threshold', async ({
  stack,
  fixture,
}) => {
  const key = await fixture.key({
    project: { id: stack.project, tenant: stack.tenant, team: stack.team },
    by: stack.owner.id,
    limit: { micro: 1_000n, reset: 'daily' },
  })
  const start = '2026-11-20T00:00:00Z'
  const writeNotice = async (id: string, kind: string, threshold: number, of: { lineage?: string; at: string }) =>
    fixture.run(
      `INSERT INTO money.notices (id, project, kind, threshold, key, lineage, window_start, at)
       VALUES ($1, $2, $3, $4, $5, $5, $6, $7)`,
      [
        `ntc_${id}${stack.project}`,
        stack.project,
        kind,
        threshold,
        of.lineage ?? null,
        of.lineage ? start : null,
        of.at,
      ],
    )
  await writeNotice('older', 'wallet.below', 5_000, { at: '2026-11-20T09:00:00Z' })
  await writeNotice('below', 'wallet.below', 5_000, { at: '2026-11-20T09:00:01Z' })
  await writeNotice('days', 'wallet.days_left', 3, { at: '2026-11-20T09:00:02Z' })
  await writeNotice('past', 'key.percent', 80, { lineage: key.id, at: '2026-11-20T09:00:03Z' })
  const open = async (query = '') => {
    const { body } = await stack.owner.get(`${stack.projectPath}/notices${query}`)
    const all = body.data as { id: string; open: boolean }[]
    return all.filter((notice) => notice.open).map(({ id }) => id.slice('ntc_'.length, -stack.project.length))
  }
  expect(await open()).toEqual(['below'])
  const first = await stack.owner.get(`${stack.projectPath}/notices?limit=3`)
  expect(await open(`?limit=3&cursor=${first.body.nextCursor}`)).toEqual([])
  await fixture.fund(stack.project, 5_000n)
  expect(await open()).toEqual([])
  await fixture.usage(stack.project, { at: new Date(), micro: 70_000 })
  expect(await open()).toEqual(['days'])
})

test('a notice of a budget is open until the limit is raised or the budget is removed', async ({ stack, fixture }) => {
  const path = `${stack.path}/budgets`
  const set = async (limitMicro: number) =>
    (await stack.owner.put(path, { kind: 'tag', subject: 'nightly', limitMicro, hard: false })).body.id as string
  const id = await set(1_000)
  await fixture.run(
    `UPDATE money.budgets SET spent = 800, window_start = date_trunc('month', now(), 'UTC') WHERE id = $1`,
    [id],
  )
  await fixture.run(
    `INSERT INTO money.notices (id, project, kind, threshold, lineage, window_start, limit_micro, spent_micro, at)
     SELECT 'ntc_' || id, $2, 'budget.percent', 80, id, window_start, 1000, 800, now() FROM money.budgets WHERE id = $1`,
    [id, stack.project],
  )
  const open = async () => (await stack.owner.get(`${stack.projectPath}/notices`)).body.data[0].open as boolean
  expect(await open()).toBe(true)
  await set(1_001)
  expect(await open()).toBe(false)
  await set(1_000)
  expect(await open()).toBe(true)
  await stack.owner.delete(`${path}/${id}`)
  expect(await open()).toBe(false)
})
