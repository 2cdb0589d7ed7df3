import { expect, onTestFinished } from 'vitest'
import { openCountingSession, type AllWork } from '../fixtures/count-work.ts'
import { test } from '../fixtures/ledger-test.ts'
import { posts, takeDue } from './deliveries.ts'

// The cost of finding due deliveries, counted in rows and pages of Postgres instead of timed.

const WEBHOOKS = 50_000
const LOST_MS = 60_000

test('the cost of finding due deliveries does not grow with webhooks or with deliveries that are not due', async ({
  database,
  fixture,
}) => {
  const session = await openCountingSession(database.adminUrl)
  onTestFinished(session.close)
  let taken: string[] = []
  const look = (): Promise<AllWork> =>
    session.countAll(async (reads) => {
      taken = (await takeDue({ reads }, posts, LOST_MS)).map(({ webhook }) => webhook)
    })

  await fixture.run(
    `INSERT INTO money.webhooks (id, project, url, secret_key, created_by, created_at)
     SELECT 'whk_' || md5(n::text), 'prj_' || n, 'https://hooks.example.com/', 'gone', 'usr_test', now()
       FROM generate_series(1, ${WEBHOOKS}) n`,
  )
  await fixture.run(
    `INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
     SELECT 'ntc_' || n, 'prj_' || n, 'wallet.below', 5, 4, now() FROM generate_series(1, ${WEBHOOKS}) n`,
  )
  await fixture.run(
    `INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
     SELECT 'ntc_' || n, 'whk_' || md5(n::text), now() + interval '1 day' FROM generate_series(1, ${WEBHOOKS}) n`,
  )
  await fixture.run('ANALYZE money.webhooks, money.notices, money.webhook_deliveries')

  // T1 of deliveries.ts.
  const nothing = await look()
  expect(taken).toEqual([])
  expect(nothing.rows).toBe(0)
  expect(nothing.pages).toBeLessThan(20)

  // T2 of deliveries.ts: one delivery is due and is found at once.
  const [one] = (
    await fixture.run(
      `UPDATE money.webhook_deliveries SET next_try_at = now() - interval '1 ms' WHERE notice = 'ntc_777' RETURNING webhook`,
    )
  ).rows as { webhook: string }[]
  const few = await look()
  expect(taken).toEqual([one!.webhook])
  expect(few.rows).toBeLessThan(3_000)
  expect(few.pages).toBeLessThan(2_000)

  // T2 and T3 of deliveries.ts: every delivery of one webhook is due, more than are read.
  await fixture.run(
    `INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
     SELECT 'ntc_' || n, $1, now() - interval '1 hour' FROM generate_series(1, ${WEBHOOKS}) n ON CONFLICT DO NOTHING`,
    [one!.webhook],
  )
  await fixture.run('ANALYZE money.webhook_deliveries')
  const many = await look()
  expect(taken).toHaveLength(8)
  expect(many.rows).toBeLessThan(6_000)
  expect(many.pages).toBeLessThan(2_000)
})
