import { expect, onTestFinished } from 'vitest'
import { openCountingSession, type AllWork } from '../fixtures/count-work.ts'
import { test } from '../fixtures/ledger-test.ts'
import { POSTS, takeDue } from './deliveries.ts'
import { NONE_UNDER_WAY } from './webhooks.fixture.ts'

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
      taken = (await takeDue({ reads }, POSTS, NONE_UNDER_WAY, LOST_MS)).map(({ webhook }) => webhook)
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

  // T1 of deliveries.ts. The first statement of a session also reads pages of the catalog.
  await look()
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
  expect(taken).toHaveLength(2)
  expect(many.rows).toBeLessThan(6_000)
  expect(many.pages).toBeLessThan(2_000)
})

// T3 of deliveries.ts.
test('free places go to the projects with the fewest posts under way, up to the share of a webhook, project and host', async ({
  fixture,
  replica: { reads },
}) => {
  await fixture.run('TRUNCATE money.webhooks, money.webhook_deliveries')
  // Six projects with three webhooks each at one host, and one project at another.
  await fixture.run(
    `INSERT INTO money.webhooks (id, project, url, secret_key, created_by, created_at)
     SELECT 'whk_' || p || w, 'prj_' || p, 'https://' || CASE p WHEN 7 THEN 'other' ELSE 'one' END || '.example.com/' || p,
            'gone', 'usr_test', now()
       FROM generate_series(1, 7) p, generate_series(1, 3) w WHERE p < 7 OR w = 1`,
  )
  await fixture.run(
    `INSERT INTO money.notices (id, project, kind, threshold, remaining_micro, at)
     SELECT 'ntc_share_' || n, 'prj_1', 'wallet.below', 5, 4, now() FROM generate_series(1, 5) n`,
  )
  await fixture.run(
    `INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
     SELECT 'ntc_share_' || n, w.id, now() - interval '1 ms' FROM generate_series(1, 5) n, money.webhooks w`,
  )
  const take = async (places: number, underWay: string[]) =>
    (await takeDue({ reads }, POSTS, { places, underWay }, LOST_MS)).map(({ webhook }) => webhook)
  const counts = (webhooks: string[], length: number) =>
    Object.values(Object.groupBy(webhooks, (id) => id.slice(0, length))).map((each) => each!.length)

  const first = await take(32, [])
  expect(first.filter((id) => id !== 'whk_71')).toHaveLength(16)
  expect(first.filter((id) => id === 'whk_71')).toHaveLength(2)
  expect(Math.max(...counts(first, 'whk_11'.length))).toBe(2)
  expect(counts(first, 'whk_1'.length).toSorted((a, b) => a - b)).toEqual([2, 2, 2, 3, 3, 3, 3])
  expect(await take(14, first)).toEqual([])

  // A seventh place of the host is free for each of the other projects, and none for what has its share.
  const four = ['whk_11', 'whk_11', 'whk_12', 'whk_12']
  const second = await take(5, [...four, 'whk_71', 'whk_71'])
  expect(new Set(second.map((id) => id.slice(0, 'whk_1'.length)))).toEqual(
    new Set(['whk_2', 'whk_3', 'whk_4', 'whk_5', 'whk_6']),
  )
})
