import { describe, expect } from 'vitest'
import { checkBooks, formatFinding } from '../check/check-books.ts'
import { setBudget } from '../budgets/budgets.ts'
import { recheckWallets } from '../check/recheck-wallets.ts'
import { correct } from '../wallets/wallets.ts'
import { dayOf, monthsAgo, test } from '../fixtures/past-months.ts'
import type { ArchiveStep } from './archive-books.ts'

const [first, second, third, fourth] = [monthsAgo(6), monthsAgo(5), monthsAgo(4), monthsAgo(3)] as const

describe('a month is not archived', () => {
  test('if its books do not add up; the error names the finding', async ({ books }) => {
    const id = await books.call(dayOf(first, 3))
    await books.call(dayOf(second, 3))
    await books.rollUp()
    await books.unguarded('UPDATE money.attempts SET completion_tokens = 29 WHERE id = $1', [id])
    await expect(books.archive({ before: third })).rejects.toThrow(
      new RegExp(
        `^${books.tenant.project.id}: journal entry 3 .*the charge differs from the cost of its usage: expected 29, found 30`,
      ),
    )
    expect(await books.partitions()).toContain(`journal ${first}`)
    expect((await books.checkFiles()).months).toBe(0)
    await books.unguarded('UPDATE money.attempts SET completion_tokens = 30 WHERE id = $1', [id])
    expect((await books.archive({ before: third })).months).toEqual([first, second])
  })

  test('if its hourly usage is wrong and can still be derived', async ({ books }) => {
    await books.call(dayOf(first, 3))
    await books.rollUp()
    await books.fixture.run('UPDATE money.usage_hours SET prompt_tokens = prompt_tokens + 1')
    await expect(books.archive({ before: second })).rejects.toThrow('a usage hour differs')
  })

  test('until its usage is rolled up', async ({ books }) => {
    await books.call(dayOf(first, 3))
    await expect(books.archive({ before: second })).rejects.toThrow('its usage is rolled up to entry 0')
    await books.rollUp()
    expect((await books.archive({ before: second })).months).toEqual([first])
  })
})

describe('usage records', () => {
  test('of a call that crosses into the next month stay until both months are archived', async ({ books }) => {
    await books.call(dayOf(first, 30), { settledAt: dayOf(second, 1) })
    await books.rollUp()
    await books.archive({ before: second })
    expect(await books.partitions()).toContain(`attempts ${first}`)
    expect(await books.check()).toEqual([])
    await books.archive({ before: third })
    expect(await books.partitions()).not.toContain(`attempts ${first}`)
    expect([await books.check(), await books.checkBoth()]).toEqual([[], []])
  })

  test('stay while a call among them is open, and are archived with the month that closes it', async ({ books }) => {
    const id = await books.open(dayOf(first, 3))
    await books.call(dayOf(second, 3))
    await books.rollUp()
    const { logged } = await books.archive({ before: third })
    expect(logged).toContainEqual(expect.stringContaining(`${first}: usage records stay`))
    expect(await books.partitions()).toContain(`attempts ${first}`)
    expect(await books.settle(id)).toMatchObject({ kind: 'settled' })
    await books.moveTo(dayOf(fourth, 3))
    await books.rollUp()
    expect(await books.check()).toEqual([])
    await books.archive({ before: fourth })
    expect(await books.partitions()).toContain(`attempts ${first}`) // the call closed in a later month
    await books.archive({ before: monthsAgo(2), afterDays: 31 })
    expect(await books.partitions()).not.toContain(`attempts ${first}`)
    expect([await books.check(), await books.checkBoth()]).toEqual([[], []])
  })

  test('that arrive after the files were written are kept', async ({ books }) => {
    await books.call(dayOf(first, 3))
    await books.call(dayOf(second, 3))
    await books.rollUp()
    let late = ''
    const beforeStep = async (step: ArchiveStep, month: string) => {
      // A gateway whose clock is months behind creates such an id.
      if (step === 'drop' && month === second) late = await books.call(dayOf(first, 9), { settledAt: new Date() })
    }
    await books.archive({ before: third, beforeStep })
    const { rows } = await books.fixture.run(
      'SELECT tableoid::regclass::text AS place FROM money.attempts WHERE id = $1',
      [late],
    )
    expect(rows).toEqual([{ place: 'money.attempts_unplanned' }])
  })
})

describe('after archiving', () => {
  test('entries belong to the month of their number, even if the clock went back', async ({ books }) => {
    await books.call(dayOf(second, 2)) // entries 2 and 3, dated a month after the next two
    await books.call(dayOf(first, 28)) // 4 and 5
    await books.call(dayOf(second, 9))
    await books.rollUp()
    await books.archive({ before: second })
    expect(await books.check()).toEqual([])
    expect((await books.checkFiles()).entries).toBe(5)
    await books.archive({ before: third })
    expect([await books.check(), await books.checkBoth()]).toEqual([[], []])
    expect((await books.checkFiles()).entries).toBe(7)
  })

  test('an entry added to a month after its files were written is kept, and archived with the next month', async ({
    books,
  }) => {
    await books.call(dayOf(first, 3))
    await books.rollUp()
    const beforeStep = async (step: ArchiveStep) => {
      if (step === 'drop') await books.call(dayOf(first, 20))
    }
    await books.archive({ before: second, beforeStep })
    await books.rollUp()
    expect(await books.check()).toEqual([])
    await books.call(dayOf(second, 3))
    await books.rollUp()
    await books.archive({ before: third })
    expect([await books.check(), await books.checkBoth()]).toEqual([[], []])
    const { rows } = await books.fixture.run('SELECT seq FROM money.journal_unplanned')
    expect(rows).toEqual([])
  })

  test('a check still finds a changed balance, starting at the first remaining entry', async ({ books }) => {
    await books.call(dayOf(first, 3))
    await books.call(dayOf(second, 3))
    await books.rollUp()
    await books.archive({ before: third })
    const project = books.tenant.project.id
    await books.unguarded('UPDATE money.wallets SET settled = settled + 1 WHERE project = $1', [project])
    expect(await books.check()).toEqual([
      `${project}: wallet ${project}: settled differs from the journal: expected 60, found 61 micro-USD`,
      expect.stringContaining('the usage roll-up differs from the journal'),
      expect.stringContaining('settled differs between journal days and wallet'),
    ])
    await books.unguarded('UPDATE money.wallets SET settled = settled - 1 WHERE project = $1', [project])
    await books.unguarded('UPDATE money.archived_wallets SET settled = settled - 1 WHERE project = $1', [project])
    expect(await books.check()).toEqual([
      expect.stringContaining('settled differs from the journal: expected 59, found 60'),
    ])
    expect(await books.checkBoth()).toEqual([
      expect.stringContaining(`${project}: its last archived entry is 5 in the database`),
    ])
  })

  test('the spend of a window is still known, and a check finds a wrong meter', async ({ books }) => {
    const { fixture, tenant } = books
    const limit = { micro: 5_000n, reset: 'lifetime' as const }
    const limited = await fixture.key({ project: tenant.project, by: tenant.owners.owner, limit })
    const of = { ...tenant, key: limited }
    await books.call(dayOf(first, 3), { of })
    await books.call(dayOf(second, 3), { of })
    await books.rollUp()
    await books.archive({ before: third })
    expect([await books.check(), await books.checkBoth()]).toEqual([[], []])
    await books.unguarded('UPDATE money.meters SET spent = spent - 1 WHERE lineage = $1', [limited.id])
    expect(await books.check()).toEqual([
      expect.stringMatching(/spent differs from the journal: expected 60, found 59/),
    ])
  })

  test('what counted towards a budget is still known, and a check finds a wrong budget', async ({ books }) => {
    const { replica, tenant, fixture } = books
    const { tenant: organization, owner, team } = tenant.owners
    const subject = { kind: 'team', subject: team, limitMicro: 5_000, hard: true } as const
    await setBudget({ reads: replica.reads }, { id: 'bud_1', tenant: organization, createdBy: owner, ...subject })
    await books.call(dayOf(first, 3))
    await books.call(dayOf(second, 3))
    await books.rollUp()
    const look = async () => (await checkBooks(replica.reads)).findings.map(formatFinding)
    expect(await look()).toEqual([])
    await books.archive({ before: third })
    await fixture.run('DELETE FROM money.checked_wallets')
    await books.call(new Date())
    await books.rollUp()
    expect([await look(), await books.checkBoth()]).toEqual([[], []])
    await books.unguarded('UPDATE money.budgets SET spent = spent - 1')
    await books.call(new Date())
    expect(await look()).toEqual([expect.stringMatching(/spent differs from the journals: expected 120, found 119/)])
  })

  test('the periodic check and the recheck behind the checkpoints continue from any position', async ({ books }) => {
    const look = async () => [
      ...(await checkBooks(books.replica.reads)).findings.map(formatFinding),
      ...(await recheckWallets(books.replica.reads, 100)).findings.map(formatFinding),
    ]
    await books.call(dayOf(first, 3))
    await books.rollUp()
    expect(await look()).toEqual([])
    await books.call(dayOf(second, 3))
    await books.call(dayOf(third, 3))
    await books.rollUp()
    await books.archive({ before: third })
    for (let n = 0; n < 3; n++) expect(await look()).toEqual([])
    await books.fixture.run('DELETE FROM money.checked_wallets')
    expect(await look()).toEqual([])
    expect(await look()).toEqual([])
  })

  test('a finding that was fixed just before its entries were archived is cleared', async ({ books }) => {
    const check = async () => (await checkBooks(books.replica.reads)).findings.map(formatFinding)
    const id = await books.call(dayOf(first, 3))
    const take = (micro: number) =>
      books.unguarded(
        `UPDATE money.journal SET settled = settled - $2, available = available + $2 WHERE reference = $1 AND kind = 'settle'`,
        [id, micro],
      )
    await take(1)
    expect(await check()).toContainEqual(expect.stringContaining('the usage record has a different charge'))
    await take(-1)
    await books.call(dayOf(second, 3))
    await books.rollUp()
    await books.archive({ before: second })
    expect(await check()).toEqual([])
  })

  test('a correction and a wallet without later entries are archived like the rest', async ({ books }) => {
    const correction = {
      project: books.tenant.project.id,
      correctionId: 'c',
      micro: -7,
      reason: 'a test',
      correctedBy: 'usr_test',
    }
    await correct(books.replica, correction)
    await books.moveTo(dayOf(second, 3))
    const other = await books.fixture.project(books.tenant.owners, 5n)
    await books.moveTo(dayOf(second, 4), other.id)
    await books.rollUp()
    await books.archive({ before: third })
    expect([await books.check(), await books.checkBoth()]).toEqual([[], []])
    const { findings } = await checkBooks(books.replica.reads, { whole: true })
    expect(findings).toEqual([])
  })
})
