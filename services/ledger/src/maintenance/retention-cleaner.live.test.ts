import { describe, expect, onTestFinished } from 'vitest'
import { keepLocked } from '../fixtures/keep-locked.ts'
import { test as tenantTest, untilBlocked } from '../fixtures/ledger-test.ts'
import { cleanRetention } from './retention-cleaner.ts'

const test = tenantTest.extend('called', async ({ fixture, replica, tenant, task }) => {
  const idempotency = { key: `retention ${task.id}`, fingerprint: 'a'.repeat(64) }
  const admit = async () => {
    const item = replica.item(tenant.key, tenant.product, { idempotency })
    return { id: item.id, outcome: await replica.admit(item) }
  }
  const first = await admit()
  const age = (days: number) =>
    fixture.run(`UPDATE money.idempotency_keys SET created_at = created_at - $2 * interval '1 day' WHERE key = $1`, [
      idempotency.key,
      days,
    ])
  const isRemembered = async () =>
    (await fixture.run('SELECT FROM money.idempotency_keys WHERE key = $1', [idempotency.key])).rowCount === 1
  return { idempotency, first, admit, age, isRemembered }
})

describe('an idempotency key', () => {
  test('is deleted after 30 days', async ({ replica, called }) => {
    await replica.release(called.first.id)
    await called.age(29)
    await cleanRetention(replica)
    expect(await called.isRemembered()).toBe(true)
    await called.age(2)
    await cleanRetention(replica)
    expect(await called.isRemembered()).toBe(false)
  })

  test('is kept while its call is open, however old it is', async ({ replica, called }) => {
    await called.age(31)
    await cleanRetention(replica)
    expect(await called.isRemembered()).toBe(true)
  })

  test('is kept for 30 days from its newest attempt', async ({ replica, called }) => {
    await replica.release(called.first.id)
    await called.age(29)
    const second = await called.admit()
    expect(second.outcome).toMatchObject({ kind: 'admitted', attempt: 2 })
    await replica.settle(second.id)
    await called.age(2)
    await cleanRetention(replica)
    expect((await called.admit()).outcome).toMatchObject({ code: 'answer_not_kept' }) // not admitted again
  })

  test('is kept if an attempt starts while it is being deleted', async ({ replica, database, fixture, called }) => {
    await replica.release(called.first.id)
    await called.age(31)
    const begin = await keepLocked(
      database.adminUrl,
      'UPDATE money.idempotency_keys SET created_at = now() WHERE key = $1',
      [called.idempotency.key],
    )
    const cleaning = cleanRetention(replica)
    onTestFinished(() => cleaning.then(() => {}))
    await untilBlocked(fixture, cleaning)
    await begin()
    await cleaning
    expect(await called.isRemembered()).toBe(true)
  })
})

test('a pending delivery whose webhook was deleted during a settlement is deleted', async ({
  replica,
  tenant,
  fixture,
}) => {
  const project = tenant.project.id
  const [kept, gone] = [`whk_kept_${project}`, `whk_gone_${project}`]
  await fixture.run(
    `INSERT INTO money.webhooks (id, project, url, secret_key, created_by, created_at)
     VALUES ($1, $2, 'https://one.example.com', 'gone', 'usr_test', now())`,
    [kept, project],
  )
  await fixture.run(
    `INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
     VALUES ('ntc_' || $1::text, $1, 'wallet.below', 5, 4, now())`,
    [project],
  )
  await fixture.run(
    `INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
     SELECT 'ntc_' || $1::text, w, now() FROM unnest($2::text[]) w`,
    [project, [kept, gone]],
  )
  expect(await cleanRetention(replica)).toMatchObject({ deliveries: 1 })
  const { rows } = await fixture.run('SELECT webhook FROM money.webhook_deliveries WHERE notice = $1', [
    `ntc_${project}`,
  ])
  expect(rows).toEqual([{ webhook: kept }])
})

test('the destinations and days left of a deleted project are deleted, with what is still to be sent', async ({
  replica,
  tenant,
  fixture,
}) => {
  const [kept, gone] = [tenant.project.id, `gone_${tenant.project.id}`]
  await fixture.run(
    `INSERT INTO money.webhooks (id, project, url, secret_key, created_by, created_at)
     SELECT 'whk_' || p, p, 'https://one.example.com/secret', 'gone', 'usr_test', now() FROM unnest($1::text[]) p`,
    [[kept, gone]],
  )
  await fixture.run('INSERT INTO money.days_left_thresholds (project, days) SELECT p, 7 FROM unnest($1::text[]) p', [
    [kept, gone],
  ])
  await fixture.run(
    `WITH written AS (
       INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
       SELECT 'ntc_' || p, p, 'wallet.below', 5, 4, now() FROM unnest($1::text[]) p RETURNING id, project)
     INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
     SELECT id, 'whk_' || project, now() FROM written`,
    [[kept, gone]],
  )
  await cleanRetention(replica)
  const left = async (table: string, column: string, prefix = '') => {
    const of = [`${prefix}${kept}`, `${prefix}${gone}`]
    const { rows } = await fixture.run(`SELECT ${column} AS id FROM money.${table} WHERE ${column} = ANY ($1)`, [of])
    return rows
  }
  expect(await left('webhooks', 'project')).toEqual([{ id: kept }])
  expect(await left('days_left_thresholds', 'project')).toEqual([{ id: kept }])
  expect(await left('webhook_deliveries', 'webhook', 'whk_')).toEqual([{ id: `whk_${kept}` }])
})
