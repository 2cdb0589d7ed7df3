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
