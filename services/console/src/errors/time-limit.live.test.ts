import { expect } from 'vitest'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'

// A long console query on the primary holds a snapshot that slows down every wallet, so its login has a time limit.

test('cancels a query that runs too long, releases its snapshot and asks for a shorter time range [unavailable]', async ({
  stack,
  fixture,
}) => {
  await fixture.usage(stack.project, { at: new Date(Date.now() - 2 * 86_400_000) })
  // A view with pg_sleep makes usage_days as slow as a very large table.
  await fixture.run('ALTER TABLE money.usage_days RENAME TO usage_days_there')
  await fixture.run('CREATE VIEW money.usage_days AS SELECT u.* FROM money.usage_days_there u, pg_sleep(60)')
  await fixture.run('GRANT SELECT ON money.usage_days TO svc_console')
  try {
    const answer = stack.owner.get(`${stack.projectPath}/usage`)
    const sessions = async () => {
      const { rows } = await fixture.run(
        `SELECT state FROM pg_stat_activity WHERE usename = 'svc_console_login' AND datname = current_database()
            AND backend_xmin IS NOT NULL`,
      )
      return rows
    }
    await expect.poll(sessions).toEqual([{ state: 'active' }])
    const { status, headers, body } = await answer
    expect(outcomeOf({ status, headers, body })).toBe('503 unavailable')
    expect(body.error.resolution).toMatch(/shorter time/)
    expect(headers.get('retry-after')).toBeNull()
    expect(await sessions()).toEqual([])
  } finally {
    await fixture.run('DROP VIEW money.usage_days')
    await fixture.run('ALTER TABLE money.usage_days_there RENAME TO usage_days')
  }
  const usage = await stack.owner.get(`${stack.projectPath}/usage`)
  expect([usage.status, usage.body.total.chargedMicro]).toEqual([200, 1])
})
