import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

test('shows a key to its creator, the Project Owner and an Admin, and hides it from everyone else [not_found]', async ({
  stack,
}) => {
  const creator = await stack.member({ team: 'Team Member', project: 'Project Consumer' })
  const { body } = await creator.post(`${stack.path}/keys`, { project: stack.project })
  const path = `${stack.path}/keys/${body.key.id}`
  const projectOwner = await stack.member({ project: 'Project Owner' })
  const admin = await stack.member({ tenant: 'Admin' })
  const consumer = await stack.member({ team: 'Team Owner', project: 'Project Consumer' })
  for (const one of [creator, projectOwner, admin]) {
    expect(outcomeOf(await one.get(path))).toBe('200')
    expect((await one.get(`${stack.path}/keys?project=${stack.project}`)).body.data).toEqual([body.key])
  }
  const never = await consumer.get(`${stack.path}/keys/key_never`)
  for (const answer of [
    await consumer.get(path),
    await consumer.post(`${path}/revoke`),
    await consumer.post(`${path}/rotate`),
  ])
    expect([outcomeOf(answer), answer.body]).toEqual(['404 not_found', never.body])
  expect((await consumer.get(`${stack.path}/keys`)).body.data).toEqual([])
})

test('finds no keys by the project of another organization', async ({ stack, fixture }) => {
  const other = await fixture.tenant()
  const project = await fixture.project(other)
  await fixture.key({ project, by: other.owner })
  expect((await stack.owner.get(`${stack.path}/keys?project=${project.id}`)).body.data).toEqual([])
})

test('lists each key with the spending window of its lineage, which starts at 0 after a reset', async ({
  stack,
  fixture,
}) => {
  const make = async (limit: object | null) =>
    (await stack.owner.post(`${stack.path}/keys`, { project: stack.project, limit })).body.key as { id: string }
  const [daily, lifetime, rolled, free] = [
    await make({ micro: 1_000, reset: 'daily' }),
    await make({ micro: 2_000, reset: 'lifetime' }),
    await make({ micro: 3_000, reset: 'monthly' }),
    await make(null),
  ]
  await fixture.run(
    `INSERT INTO money.meters (lineage, project, window_start, limit_micro, spent, reserved)
     SELECT * FROM (VALUES
       ($2, $1, money.window_start('daily', now()), 1000, 300, 20),
       ($3, $1, money.window_start('lifetime', now()), 2000, 2000, 0),
       ($4, $1, money.window_start('monthly', now() - interval '40 days'), 3000, 7, 0)) m`,
    [stack.project, daily.id, lifetime.id, rolled.id],
  )
  const replacement = (await stack.owner.post(`${stack.path}/keys/${daily.id}/rotate`)).body.key
  const { body } = await stack.owner.get(`${stack.path}/keys?project=${stack.project}`)
  const windows = new Map<string, object | null>(
    body.data.map(({ id, window }: { id: string; window: object | null }) => [id, window]),
  )
  const spent = { spentMicro: 300, reservedMicro: 20, remainingMicro: 680 }
  expect(windows.get(daily.id)).toMatchObject(spent)
  expect(windows.get(replacement.id)).toEqual(windows.get(daily.id))
  expect(replacement.window).toEqual(windows.get(daily.id))
  const used = { spentMicro: 2_000, reservedMicro: 0, remainingMicro: 0, startsAt: null, resetsAt: null }
  expect(windows.get(lifetime.id)).toEqual(used)
  expect(windows.get(rolled.id)).toMatchObject({ spentMicro: 0, reservedMicro: 0, remainingMicro: 3_000 })
  expect(windows.get(free.id)).toBe(null)
})

test('lists the keys of given IDs that the user may see, and those that expire before a time', async ({ stack }) => {
  const list = `${stack.path}/keys?`
  const make = async (expiresInDays: number) =>
    (await stack.owner.post(`${stack.path}/keys`, { project: stack.project, expiresInDays })).body.key.id as string
  const [long, short] = [await make(90), await make(2)]
  const idsOf = async (query: string, by = stack.owner) =>
    ((await by.get(`${list}${query}`)).body.data as { id: string }[]).map(({ id }) => id)
  expect(await idsOf(`ids=${long},key_never`)).toEqual([long])
  expect(await idsOf(`ids=${long},${short}&cursor=${short}`)).toEqual([long])
  const consumer = await stack.member({ project: 'Project Consumer' })
  expect(await idsOf(`ids=${long}`, consumer)).toEqual([])
  const inAWeek = new Date(Date.now() + 7 * 86_400_000).toISOString()
  expect(await idsOf(`expiresBefore=${inAWeek}`)).toEqual([short])
  for (const ids of ['', 'a,,b', `a${',a'.repeat(100)}`])
    expect([ids, outcomeOf(await stack.owner.get(`${list}ids=${ids}`))]).toEqual([ids, '400 invalid_request'])
  const projects = async (ids: string) => (await stack.owner.get(`${stack.path}/projects?ids=${ids}`)).body.data
  expect(await projects(`${stack.project},prj_never`)).toMatchObject([{ id: stack.project }])
  expect(await projects('prj_never')).toEqual([])
})
