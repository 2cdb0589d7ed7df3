import { openDatabase } from '@gateway/database/client'
import { ask } from '@gateway/testbed/ask'
import { openFixture } from '@gateway/testbed/fixture'
import { describe, expect, onTestFinished } from 'vitest'
import { untilBlocked } from '../fixtures/ledger-test.ts'
import { signNotice, takeDeliveries } from './deliveries.ts'
import { NONE_UNDER_WAY, openCountingPoster, sendNotices, settings, webhookTest as test } from './webhooks.fixture.ts'
import { createWebhook } from './webhooks.ts'

describe('a notice', () => {
  test('is posted once to each webhook of its project, signed with the webhook’s secret', async ({
    receiver: { got },
    hooked,
  }) => {
    const webhooks = [await hooked.webhook('/200'), await hooked.webhook('/204')]
    const notice = await hooked.cross()
    expect(await sendNotices(hooked.deps)).toEqual({ delivered: 2, failed: 0, dead: 0 })
    expect(await sendNotices(hooked.deps)).toEqual({ delivered: 0, failed: 0, dead: 0 })
    expect(got).toHaveLength(2)
    for (const { path, headers, body } of got) {
      const { secret } = webhooks[path === '/200' ? 0 : 1]!
      const nowMs = Number(headers['webhook-timestamp']) * 1_000
      expect(headers).toMatchObject(signNotice([secret], { id: notice, body, nowMs }))
      expect(JSON.parse(body)).toMatchObject({
        type: 'wallet.below',
        data: {
          id: notice,
          project: hooked.project,
          threshold: 999_990,
          remainingMicro: 999_950,
          key: null,
          details: {},
        },
      })
    }
    expect(await hooked.deliveries()).toEqual([
      { state: 'Delivered', tries: 1, status: expect.any(Number), error: null },
      { state: 'Delivered', tries: 1, status: expect.any(Number), error: null },
    ])
  })

  test('that is not accepted is retried with the same id and body and growing delays, then marked dead', async ({
    receiver: { got },
    hooked,
  }) => {
    await hooked.webhook('/500')
    await hooked.cross()
    const backOffMs = [60_000, 120_000]
    expect(await sendNotices(hooked.deps, backOffMs)).toMatchObject({ failed: 1 })
    expect(await sendNotices(hooked.deps, backOffMs)).toMatchObject({ failed: 0 }) // not due yet
    await hooked.elapse()
    expect(await sendNotices(hooked.deps, backOffMs)).toMatchObject({ failed: 1 })
    await hooked.elapse()
    expect(await sendNotices(hooked.deps, backOffMs)).toMatchObject({ dead: 1 })
    expect(await hooked.deliveries()).toEqual([{ state: 'Dead', tries: 3, status: 500, error: null }])
    expect(new Set(got.map(({ headers, body }) => headers['webhook-id'] + body)).size).toBe(1)
    expect(got).toHaveLength(3)
  })

  test('is marked dead at once on 410, and does not follow redirects', async ({ receiver, hooked }) => {
    await hooked.webhook('/410')
    await hooked.webhook('/302')
    await hooked.cross()
    expect(await sendNotices(hooked.deps)).toMatchObject({ delivered: 0, dead: 1 })
    expect(new Set(receiver.got.map(({ path }) => path))).toEqual(new Set(['/302', '/410']))
  })

  test('is posted again if the sender that took it died', async ({ fixture, receiver, hooked }) => {
    await hooked.webhook('/200')
    const notice = await hooked.cross()
    await fixture.run(
      `UPDATE money.webhook_deliveries SET tries = 1, next_try_at = now() - interval '1 second' WHERE notice = $1`,
      [notice],
    )
    expect(await sendNotices(hooked.deps)).toMatchObject({ delivered: 1 })
    expect(receiver.got).toHaveLength(1)
    expect(await hooked.deliveries()).toMatchObject([{ state: 'Delivered', tries: 2 }])
  })

  test('is not posted to an address that is no longer allowed, even if it was when the webhook was created', async ({
    receiver: { got },
    hooked,
  }) => {
    await hooked.webhook('/200')
    await hooked.cross()
    const webhookSettings = settings({ WEBHOOK_PRIVATE_ADDRESSES: false })
    expect(await sendNotices({ ...hooked.deps, webhookSettings })).toMatchObject({ failed: 1 })
    expect([got, await hooked.deliveries()]).toMatchObject([[], [{ state: 'Pending', error: 'not_https' }]])
  })

  test('is dropped if its webhook is deleted', async ({ receiver: { got }, hooked, fixture }) => {
    const { id } = await hooked.webhook('/200')
    await hooked.cross()
    const end = async (project: string) =>
      (await fixture.run('SELECT control.end_webhook($1, $2) AS found', [project, id])).rows
    expect(await end('prj_other')).toEqual([{ found: false }])
    expect(await end(hooked.project)).toEqual([{ found: true }])
    await sendNotices(hooked.deps)
    expect([got, await hooked.deliveries()]).toEqual([[], []])
  })
})

test('deleting webhooks reads only the deliveries of their projects', async ({ fixture, tenant, hooked }) => {
  await hooked.webhook('/200')
  await hooked.write(2)
  await fixture.run(
    `INSERT INTO money.webhook_deliveries (notice, webhook, state, next_try_at)
     SELECT 'ntc_other_' || n, 'whk_other', 'Delivered', now() FROM generate_series(1, 20000) n`,
  )
  await fixture.run('ANALYZE money.webhook_deliveries')
  /** Of this session, so far. */
  const rowsScanned = async () => {
    const { rows } = await fixture.run(
      `SELECT seq_tup_read::int AS scanned FROM pg_stat_xact_user_tables
        WHERE relid = 'money.webhook_deliveries'::regclass`,
    )
    return rows[0]!['scanned'] as number
  }
  for (const deletion of [
    `SELECT control.end_webhook('${hooked.project}', (SELECT id FROM money.webhooks WHERE project = '${hooked.project}'))`,
    `SELECT control.end_webhooks('${tenant.project.tenant}', 'usr_test')`,
  ]) {
    await fixture.run('BEGIN')
    const before = await rowsScanned()
    await fixture.run(deletion)
    const scanned = (await rowsScanned()) - before
    const left = await hooked.deliveries()
    await fixture.run('ROLLBACK')
    expect({ deletion, scanned, left }).toEqual({ deletion, scanned: 0, left: [] })
  }
})

test('deleting webhooks waits for a delivery that is being recorded, which then locks its webhook', async ({
  database,
  fixture,
  tenant,
  hooked,
}) => {
  await hooked.webhook('/200')
  await hooked.write(1)
  const recording = await openFixture(database.adminUrl)
  onTestFinished(() => recording.close())
  await recording.run('BEGIN')
  await recording.run('SELECT FROM money.webhook_deliveries FOR UPDATE')
  const deletion = ask(database.adminUrl, `SELECT control.end_webhooks('${tenant.project.tenant}', 'usr_test')`)
  await untilBlocked(fixture, deletion)
  await recording.run('UPDATE money.webhooks SET failing_since = NULL WHERE project = $1', [hooked.project])
  await recording.run('COMMIT')
  await deletion
  expect(await hooked.deliveries()).toEqual([])
})

test('webhooks that keep failing do not delay the notices of others', async ({ receiver, hooked }) => {
  for (let n = 0; n < 4; n++) await hooked.webhook('/500')
  await hooked.webhook('/200')
  await hooked.write(8)
  const atOnce = Array.from({ length: 10_000 }, () => 0) // failed deliveries are due again at once
  const poster = openCountingPoster(hooked.deps, atOnce)
  while (poster.counts.delivered < 8) await poster.postDue()
  await poster.idle()
  expect(receiver.got.filter(({ path }) => path === '/200')).toHaveLength(8)
})

test('a webhook with a backlog of thousands does not delay the notices of others', async ({ receiver, hooked }) => {
  await hooked.webhook('/500')
  await hooked.write(3_000, 1)
  await hooked.ofOtherProject.webhook('/200')
  await hooked.ofOtherProject.write(1)
  const poster = openCountingPoster(hooked.deps)
  await poster.postDue()
  await poster.idle()
  expect(poster.counts).toEqual({ delivered: 1, failed: 2, dead: 0 })
  expect(receiver.got).toHaveLength(3)
})

test('webhooks that never answer delay no notice of another project', async ({ receiver, hooked }) => {
  for (let n = 0; n < 5; n++) await hooked.webhook('/')
  await hooked.write(40)
  const poster = openCountingPoster(hooked.deps)
  await poster.postDue()
  await hooked.ofOtherProject.webhook('/200')
  await hooked.ofOtherProject.write(1)
  while (poster.counts.delivered === 0) await poster.postDue()
  expect(poster.counts).toEqual({ delivered: 1, failed: 0, dead: 0 })
  receiver.hangUp()
  await poster.idle()
  expect(poster.counts).toEqual({ delivered: 1, failed: 4, dead: 0 })
})

test('a notice whose webhook has lost its key is not taken, and its delivery says so', async ({ hooked }) => {
  await hooked.webhook('/200')
  await hooked.cross()
  const deps = { ...hooked.deps, webhookSettings: settings({ WEBHOOK_KEY: 'n'.repeat(32) }) }
  expect(await takeDeliveries(deps, NONE_UNDER_WAY)).toEqual({ deliveries: [] })
  expect(await hooked.deliveries()).toEqual([{ state: 'Pending', tries: 1, status: null, error: 'key_missing' }])
})

describe('the secret of a webhook', () => {
  test('is not stored in the database, and survives a rotation of the operator’s key', async ({ fixture, hooked }) => {
    const { id, secret } = await hooked.webhook('/200')
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const { rows } = await fixture.run(
      'SELECT row_to_json(w)::text AS row, secret_key FROM money.webhooks w WHERE id = $1',
      [id],
    )
    expect(rows[0]!['row']).not.toContain(secret.slice(6, 30))
    const webhook = { id, secretKey: rows[0]!['secret_key'] as string, generation: 1 }
    const later = settings({ WEBHOOK_KEY: 'n'.repeat(32), WEBHOOK_KEY_PREVIOUS: 'k'.repeat(32) })
    expect(later.secretOf(webhook)).toBe(secret)
    expect(settings({ WEBHOOK_KEY: 'n'.repeat(32) }).secretOf(webhook)).toBeNull()
  })

  test('is the same if the webhook is created again under its id, even at the quota [quota_reached]', async ({
    hooked,
  }) => {
    const url = 'http://127.0.0.1:1/'
    const make = (n: number) =>
      createWebhook(hooked.deps, {
        id: `whk_${hooked.project}_${n}`,
        project: hooked.project,
        kind: 'standard',
        url,
        createdBy: 'p',
      })
    const first = await make(0)
    expect(await make(0)).toEqual(first)
    for (let n = 1; n < 5; n++) expect(await make(n)).toMatchObject({ kind: 'made' })
    expect(await make(5)).toMatchObject({ refused: { code: 'quota_reached', facts: { limit: 5, used: 5 } } })
    expect(await make(4)).toMatchObject({ kind: 'made' })
  })

  test('is one of at most five of its project, however many are created at once', async ({ hooked, database }) => {
    const reads = await openDatabase({ url: database.ledgerUrl, poolSize: 16 })
    onTestFinished(() => reads.close())
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        createWebhook(
          { ...hooked.deps, reads },
          {
            id: `whk_${hooked.project}_${n}`,
            project: hooked.project,
            kind: 'standard',
            url: 'http://127.0.0.1:1/',
            createdBy: 'p',
          },
        ),
      ),
    )
    expect(answers.filter((answer) => 'secret' in answer)).toHaveLength(5)
  })

  test('cannot be created without the operator’s key', async ({ hooked }) => {
    const webhookSettings = settings({ WEBHOOK_KEY: undefined })
    const url = 'https://hooks.example.com'
    const request = { id: 'whk_1', project: hooked.project, kind: 'standard', url, createdBy: 'p' } as const
    expect(await createWebhook({ ...hooked.deps, webhookSettings }, request)).toEqual({ kind: 'refused', why: 'off' })
  })
})

test('attempts to create webhooks are limited to twenty per project and minute', async ({ hooked }) => {
  const attempt = (project: string) =>
    createWebhook(hooked.deps, {
      id: `whk_${project}_0`,
      project,
      kind: 'standard',
      url: 'http://127.0.0.1:1/',
      createdBy: 'p',
    })
  for (let n = 0; n < 20; n++) expect(await attempt(hooked.project)).toMatchObject({ kind: 'made' })
  expect(await attempt(hooked.project)).toEqual({ kind: 'refused', why: 'too_often' })
  expect(await attempt(`${hooked.project}2`)).toMatchObject({ kind: 'made' })
})
