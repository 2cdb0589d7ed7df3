import { expect } from 'vitest'
import { errorOf, stackTest, openCalls } from '../stack.fixture.ts'

const ROOM = 3
const test = stackTest.extend('settings', { scope: 'file' }, () => ({
  gateway: { MAX_CONCURRENT_ADMISSIONS: String(ROOM) },
}))

test('refuses a call at once if MAX_CONCURRENT_ADMISSIONS calls already wait for a slow ledger [overloaded]', async ({
  tenant,
  fixture,
}) => {
  await (await tenant.chat()).text()
  await fixture.run('BEGIN')
  await fixture.run('SELECT FROM money.wallets WHERE project = $1 FOR UPDATE', [tenant.project])
  const waiting = Array.from({ length: ROOM }, () => tenant.chat())
  while ((await openCalls(tenant.metricsUrl)) < ROOM) continue
  const refused = await tenant.chat()
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await errorOf(refused)).toMatchObject({ code: 'overloaded' })
  await fixture.run('COMMIT')
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await tenant.chat()).status).toBe(200)
})
