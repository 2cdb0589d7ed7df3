import { expect } from 'vitest'
import { writeNotices } from '../notices/write-notices.ts'
import { takeDeliveries, resendDelivery, testWebhook } from './deliveries.ts'
import { NONE_UNDER_WAY, sendNotices, settings, webhookTest as test } from './webhooks.fixture.ts'

const notice = (project: string, id: string) =>
  ({
    id,
    project,
    kind: 'key.leaked',
    key: 'key_1',
    details: { location: 'here' },
    at: '2026-11-26T09:00:00.000Z',
  }) as const

test('a webhook whose delivery is given up is marked, and reported once through the other webhooks until it recovers', async ({
  fixture,
  receiver,
  hooked: { deps, project, webhook },
}) => {
  const [broken, other] = [await webhook('/500'), await webhook('/200')]
  const failing = async () =>
    (await fixture.run('SELECT id FROM money.webhooks WHERE failing_since IS NOT NULL AND project = $1', [project]))
      .rows
  const reports = async () =>
    (await fixture.run(`SELECT details FROM money.notices WHERE project = $1 AND kind = 'webhook.failing'`, [project]))
      .rows
  for (const n of [1, 2]) await writeNotices(deps, { notices: [notice(project, `ntc_${project}_${n}`)] })
  await sendNotices(deps, []) // given up after one try
  await sendNotices(deps, [])
  expect(await failing()).toEqual([{ id: broken.id }])
  expect(await reports()).toEqual([{ details: { webhook: broken.id, status: 500 } }])
  const posted = receiver.got.filter(({ path }) => path === '/200').map(({ body }) => JSON.parse(body))
  expect(posted.filter(({ type }) => type === 'webhook.failing')).toMatchObject([
    { data: { threshold: null, details: { webhook: broken.id, status: 500 } } },
  ])

  await fixture.run('UPDATE money.webhooks SET url = $1 WHERE id = $2', [`${receiver.url}/204`, broken.id])
  const again = { notice: `ntc_${project}_1`, webhook: broken.id, project }
  expect(await resendDelivery(deps, again)).toEqual({ kind: 'sent' })
  expect(await sendNotices(deps)).toMatchObject({ delivered: 1 })
  expect(await failing()).toEqual([])
  const resent = receiver.got.filter(({ headers }) => headers['webhook-id'] === again.notice)
  expect(new Set(resent.map(({ body }) => body)).size).toBe(1)
  expect(await resendDelivery(deps, { ...again, project: 'prj_other' })).toEqual({ kind: 'refused', why: 'not_found' })
  expect(await resendDelivery(deps, { ...again, webhook: other.id, notice: 'ntc_none' })).toMatchObject({
    why: 'not_found',
  })
})

test('a delivery that is made due now is taken at once, however its time is rounded', async ({ fixture, hooked }) => {
  const { deps, project, webhook } = hooked
  const { id } = await webhook('/200')
  await writeNotices(deps, { notices: [notice(project, `ntc_${project}_1`)] })
  for (let n = 0; n < 50; n++) {
    await fixture.run(
      'UPDATE money.webhook_deliveries SET next_try_at = clock_timestamp(), tries = 0 WHERE webhook = $1',
      [id],
    )
    expect((await takeDeliveries(deps, NONE_UNDER_WAY)).deliveries).toHaveLength(1)
  }
})

test('a webhook whose key is gone is reported at its first delivery', async ({ fixture, hooked }) => {
  const { id } = await hooked.webhook('/200')
  await hooked.cross()
  await takeDeliveries({ ...hooked.deps, webhookSettings: settings({ WEBHOOK_KEY: 'n'.repeat(32) }) }, NONE_UNDER_WAY)
  const { rows } = await fixture.run(
    `SELECT details FROM money.notices WHERE project = $1 AND kind = 'webhook.failing'`,
    [hooked.project],
  )
  expect(rows).toEqual([{ details: { webhook: id, error: 'key_missing' } }])
})

test('a test notice is posted to its webhook alone, signed like any other', async ({ fixture, receiver, hooked }) => {
  const { deps, project } = hooked
  const { id } = await hooked.webhook('/200')
  await hooked.webhook('/204')
  const test = { notice: fixture.id('ntc'), webhook: id, project }
  expect(await testWebhook(deps, test)).toEqual({ kind: 'sent' })
  expect(await testWebhook(deps, test)).toEqual({ kind: 'sent' }) // a repeat writes nothing
  expect(await testWebhook(deps, { ...test, project: 'prj_other', notice: 'ntc_other' })).toMatchObject({
    why: 'not_found',
  })
  expect(await sendNotices(deps)).toEqual({ delivered: 1, failed: 0, dead: 0 })
  expect(receiver.got.map(({ path }) => path)).toEqual(['/200'])
  expect(JSON.parse(receiver.got[0]!.body)).toMatchObject({ type: 'webhook.test', data: { details: { webhook: id } } })
})

test('tests and repeats are limited to twenty per project and minute, together with new webhooks', async ({
  hooked,
}) => {
  const { deps, project } = hooked
  const { id } = await hooked.webhook('/200')
  for (let n = 1; n < 20; n++)
    expect(await testWebhook(deps, { notice: `ntc_${project}_${n}`, webhook: id, project })).toEqual({ kind: 'sent' })
  const more = { notice: `ntc_${project}_1`, webhook: id, project }
  expect(await testWebhook(deps, more)).toEqual({ kind: 'refused', why: 'too_often' })
  expect(await resendDelivery(deps, more)).toEqual({ kind: 'refused', why: 'too_often' })
})
