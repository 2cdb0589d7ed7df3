import { describe, expect } from 'vitest'
import { createLogger } from '@gateway/service-kit/process/logger'
import { test as ledgerTest } from '../fixtures/ledger-test.ts'
import { dayOf, monthsAgo, test as pastTest } from '../fixtures/past-months.ts'
import { rollUpUsage } from '../maintenance/usage-roll-up.ts'
import { checkBooks, formatFinding } from './check-books.ts'

const log = createLogger({ service: 'ledger', level: 'fatal' })
const [first, second, third] = [monthsAgo(6), monthsAgo(5), monthsAgo(4)] as const
const onDay = (at: Date) => at.toISOString().slice(0, 10)

pastTest(
  'a settlement counts on the day it was settled, not the day of admission, even after both are archived',
  async ({ books }) => {
    const { project, product } = books.tenant
    const [admitted, settled] = [dayOf(first, 28), dayOf(second, 1)]
    await books.call(admitted, { tokens: 40, settledAt: settled })
    await books.call(settled, { tokens: 2 })
    await books.rollUp()
    const days = async () => {
      const { rows } = await books.fixture.run(
        `SELECT day::text, kind, product, entries::int, reserved::int, settled::int, outside::int FROM money.journal_days
        WHERE project = $1 ORDER BY day, kind`,
        [project.id],
      )
      return rows
    }
    const none = { product: '', reserved: 0, settled: 0, outside: 0 }
    const expected = [
      { ...none, day: onDay(dayOf(first, 1)), kind: 'fund', entries: 1, outside: -1_000_000 },
      { ...none, day: onDay(admitted), kind: 'reserve', entries: 1, reserved: 100 },
      { ...none, day: onDay(settled), kind: 'reserve', entries: 1, reserved: 100 },
      { ...none, day: onDay(settled), kind: 'settle', product, entries: 2, reserved: -200, settled: 42 },
    ]
    expect(await days()).toEqual(expected)
    await books.archive({ before: third })
    expect(await days()).toEqual(expected)
    expect(await books.check()).toEqual([])
    await books.fixture.run(`UPDATE money.journal_days SET settled = settled + 1 WHERE kind = 'settle'`)
    expect(await books.check()).toEqual([
      expect.stringContaining('settled differs between journal days and wallet: expected 42, found 43'),
    ])
  },
)

pastTest('a month whose journal days do not add up is not archived', async ({ books }) => {
  await books.call(dayOf(first, 3))
  await books.rollUp()
  await books.fixture.run(`UPDATE money.journal_days SET product = 'acme/other' WHERE kind = 'settle'`)
  await expect(books.archive({ before: second })).rejects.toThrow('a journal day differs')
})

const test = ledgerTest
  .extend('spend', ({ replica, tenant }) => async (completionTokens: number) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    await replica.settle(item.id, { promptTokens: 0, completionTokens })
  })
  .extend('findings', ({ replica, tenant }) => async (whole: boolean) => {
    const { findings } = await checkBooks(replica.reads, { projects: [tenant.project.id], whole })
    return findings.map(formatFinding)
  })

describe('the check of journal days', () => {
  const change = (what: string) => `UPDATE money.journal_days SET ${what} WHERE project = $1`
  const tamperings: [what: string, sql: string, whole: boolean, saying: RegExp][] = [
    ['a charge', `${change('settled = settled - 1')} AND kind = 'settle'`, false, /settled .*: expected 30, found 29/],
    ['a funding', `${change('outside = outside - 5')} AND kind = 'fund'`, false, /expected 1000000, found 1000005/],
    [
      'the reserved amount',
      `${change('reserved = 0')} AND kind = 'reserve'`,
      false,
      /reserved .*: expected 0, found -200/,
    ],
    [
      'a deleted day',
      'DELETE FROM money.journal_days WHERE project = $1',
      false,
      /number of entries: expected 5, found 0/,
    ],
    [
      'charges moved to another day',
      `${change('day = day - 1')} AND kind = 'settle'`,
      true,
      /a journal day differs from its entries: expected 2 entries \(reserved -200, settled 30, outside 0\), found 0 entries/,
    ],
  ]
  for (const [what, sql, whole, saying] of tamperings) {
    test(`reports what does not add up after tampering with ${what}`, async ({
      replica,
      tenant,
      spend,
      findings,
      fixture,
    }) => {
      await spend(10)
      await spend(20)
      await rollUpUsage({ reads: replica.reads, log })
      await spend(7) // after the entries that are rolled up
      expect(await findings(true)).toEqual([])
      await fixture.run(sql, [tenant.project.id])
      expect((await findings(whole)).join('\n')).toMatch(saying)
    })
  }
})
