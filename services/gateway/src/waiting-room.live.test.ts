import { expect } from 'vitest'
import { errorOf, houseTest as test, openCalls } from './house.fixture.ts'

const ROOM = 3
test.override('environment', { ADMISSIONS_AT_ONCE: String(ROOM) })

test('while the ledger does not keep up, whoever is one too many is told at once [overloaded]', async ({
  shop,
  house,
}) => {
  const [ledger] = house.ledgers
  await (await shop.chat()).text()
  ledger!.signal('SIGSTOP')
  const waiting = Array.from({ length: ROOM }, () => shop.chat())
  while ((await openCalls(shop.url)) < ROOM) continue
  const refused = await shop.chat()
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await errorOf(refused)).toMatchObject({ code: 'overloaded' })
  ledger!.signal('SIGCONT')
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await shop.chat()).status).toBe(200)
})
