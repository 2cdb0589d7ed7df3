import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { Client } from 'pg'
import { openDatabase } from '@gateway/database/client'
import { dayOf, monthsAgo, test } from '../fixtures/past-months.ts'
import { untilBlocked } from '../fixtures/ledger-test.ts'
import { archiveBooks, type ArchiveStep } from './archive-books.ts'
import { checkArchive } from './check-archive.ts'
import { attemptsName, hashFile, journalName, manifestName, readManifest, walletsName } from './line-file.ts'

const [first, second, third] = [monthsAgo(6), monthsAgo(5), monthsAgo(4)] as const
/** Archives only the first two months. */
const two = { before: third }

describe('ledger archive', () => {
  test('writes closed months to files and drops their partitions, and the books stay consistent', async ({ books }) => {
    for (const month of [first, second, third]) for (const day of [3, 17]) await books.call(dayOf(month, day))
    await books.rollUp()
    expect(await books.check()).toEqual([])
    const { months } = await books.archive(two)
    expect(months).toEqual([first, second])
    expect((await readdir(books.folder)).toSorted()).toEqual(
      [
        attemptsName(first),
        ...[first, second].flatMap((month) => [journalName(month), manifestName(month), walletsName(month)]),
      ].toSorted(),
    )
    const left = await books.partitions()
    expect(left.filter((name) => name.endsWith(first))).toEqual([])
    expect(left.filter((name) => name.endsWith(second))).toEqual([`attempts ${second}`]) // until the next month is
    expect(await books.check()).toEqual([])
    expect(await books.checkFiles()).toEqual({ months: 2, entries: 1 + 4 * 2, findings: [], notes: [] })
    expect(await books.checkBoth()).toEqual([])
    await books.call(new Date(), { tokens: 7 })
    await books.rollUp()
    expect(await books.check()).toEqual([])
    expect(await books.archive(two)).toEqual({ months: [], logged: ['No month is due.'] })
  })

  test('prints what it would archive in a dry run and changes nothing', async ({ books }) => {
    await books.call(dayOf(first, 3))
    const before = await books.partitions()
    const { logged } = await books.archive({ ...two, dry: true })
    expect(logged).toEqual([`${first} would be archived.`, `${second} would be archived.`])
    expect([await readdir(books.folder), await books.partitions()]).toEqual([[], before])
  })

  test('archives a month without entries, so that the chain of months has no gap', async ({ books }) => {
    await books.call(dayOf(third, 3))
    await books.rollUp()
    await books.archive({ before: monthsAgo(3) })
    expect(await books.checkBoth()).toEqual([])
    const found = await readManifest(books.folder, second)
    expect(found).toMatchObject({ manifest: { journal: { rows: 0 }, wallets: { rows: 0 } } })
  })

  test('a check during a run notes the month that is not recorded yet, and finds nothing wrong', async ({ books }) => {
    for (const month of [first, second]) await books.call(dayOf(month, 3))
    await books.rollUp()
    for (const [months, killedIn] of [first, second].entries()) {
      const beforeStep = (at: ArchiveStep, month: string) => {
        if (at === 'record' && month === killedIn) throw new Error('killed')
      }
      await expect(books.archive({ ...two, beforeStep })).rejects.toThrow('killed')
      const report = await checkArchive(books.folder, { database: books.replica.reads })
      const note = expect.stringContaining(`${manifestName(killedIn)} is not recorded in the database yet`) as string
      expect(report).toMatchObject({ months, findings: [], notes: [note] })
    }
  })

  test('a check compares with the books of one moment although a month is recorded meanwhile', async ({ books }) => {
    await books.call(dayOf(first, 3))
    await books.rollUp()
    await books.archive({ before: second })
    await books.fixture.run('BEGIN')
    await books.fixture.run('LOCK TABLE money.archived_wallets')
    const check = books.checkBoth()
    await untilBlocked(books.fixture, check)
    await books.unguarded('UPDATE money.archived_wallets SET seq = seq + 1')
    await books.fixture.run('COMMIT')
    expect(await check).toEqual([])
    await books.unguarded('UPDATE money.archived_wallets SET seq = seq - 1')
  })

  const steps: ArchiveStep[] = ['books', 'attempts', 'manifest', 'verify', 'record', 'drop']
  for (const step of steps) {
    test(`reaches the same result if killed before the step "${step}" and run again`, async ({ books }) => {
      for (const month of [first, second]) await books.call(dayOf(month, 3))
      await books.rollUp()
      for (const killedIn of [first, second]) {
        const beforeStep = (at: ArchiveStep, month: string) => {
          if (at === step && month === killedIn) throw new Error('killed')
        }
        await expect(books.archive({ ...two, beforeStep })).rejects.toThrow('killed')
        expect(await books.check()).toEqual([])
      }
      await books.archive(two)
      expect(await books.checkBoth()).toEqual([])
      expect(await books.check()).toEqual([])
      expect((await books.partitions()).filter((name) => name.endsWith(first))).toEqual([])
      expect((await books.checkFiles()).entries).toBe(1 + 2 * 2)
      expect((await readdir(books.folder)).filter((name) => name.startsWith('.'))).toEqual([])
    })
  }

  test('drops a detached partition if it was killed between detaching and dropping', async ({ books }) => {
    await books.call(dayOf(first, 3))
    await books.rollUp()
    const stop = (at: ArchiveStep) => {
      if (at === 'drop') throw new Error('killed')
    }
    await expect(books.archive({ before: second, beforeStep: stop })).rejects.toThrow('killed')
    const { rows } = await books.fixture.run(`SELECT done FROM money.drop_archived('journal', $1)`, [first])
    expect(rows).toEqual([{ done: expect.stringContaining('detached journal_') }])
    expect(await books.check()).toEqual([])
    expect((await books.archive({ before: second })).months).toEqual([first])
    expect((await books.partitions()).filter((name) => name === `journal ${first}`)).toEqual([])
  })

  test('drops nothing if the files of a recorded month differ from the verified ones', async ({ books }) => {
    await books.call(dayOf(first, 3))
    await books.rollUp()
    const stop = (at: ArchiveStep) => {
      if (at === 'drop') throw new Error('killed')
    }
    await expect(books.archive({ before: second, beforeStep: stop })).rejects.toThrow('killed')
    const elsewhere = `${books.folder}/elsewhere`
    await expect(books.archive({ before: second, folder: elsewhere })).rejects.toThrow(
      `${manifestName(first)} is missing in ${elsewhere}. ${first} was archived to ${books.folder}`,
    )
    expect(await books.partitions()).toContain(`journal ${first}`)
  })

  test('refuses to run while another archive is running', async ({ books }) => {
    await books.call(dayOf(first, 3))
    await books.rollUp()
    const beforeStep = async (at: ArchiveStep) => {
      if (at === 'books') await expect(books.archive()).rejects.toThrow('Another archive run is in progress')
    }
    await books.archive({ before: second, beforeStep })
    expect(await books.checkBoth()).toEqual([])
  })

  test('does not block admissions while a reader holds the partition, and drops it once the reader is gone', async ({
    books,
  }) => {
    await books.call(dayOf(first, 3))
    await books.rollUp()
    const reader = new Client({ connectionString: books.database.adminUrl })
    await reader.connect()
    reader.on('error', () => {}) // the database is dropped at the end of the test
    await reader.query('BEGIN; SELECT FROM money.journal')
    const archive = books.archive({ before: second })
    while (!existsSync(`${books.folder}/${manifestName(first)}`))
      await new Promise((resolve) => setTimeout(resolve, 10))
    for (let n = 0; n < 20; n++) {
      const item = books.replica.item(books.tenant.key, books.tenant.product)
      expect(await books.replica.admit(item)).toMatchObject({ kind: 'admitted' })
      expect(await books.replica.settle(item.id)).toMatchObject({ kind: 'settled' })
    }
    expect(await books.partitions()).toContain(`journal ${first}`)
    await reader.end()
    expect((await archive).months).toEqual([first])
    expect(await books.partitions()).not.toContain(`journal ${first}`)
  })

  test('refuses a login that does not own the tables, with one sentence', async ({ books }) => {
    const session = await openDatabase({ url: books.database.ledgerUrl, poolSize: 1 })
    const options = { folder: books.folder, afterDays: 62, before: null, log: () => {} }
    await expect(archiveBooks(session, options)).rejects.toThrow(
      /^DATABASE_URL uses the login svc_ledger_login, which can't drop tables\. Use the login of the owner, \w+, as the migration job does\.$/,
    )
    await expect(session.prisma.$queryRaw`SELECT money.drop_archived('journal', '2020-01')`).rejects.toThrow()
    await session.close()
  })

  test('writes identical bytes for identical books', async ({ books }) => {
    await books.call(dayOf(first, 3))
    await books.rollUp()
    const stop = (at: ArchiveStep) => {
      if (at === 'record') throw new Error('killed')
    }
    const hashes = async () =>
      [journalName, manifestName, walletsName].map((of) => hashFile(`${books.folder}/${of(first)}`))
    await expect(books.archive({ beforeStep: stop })).rejects.toThrow('killed')
    const written = await Promise.all(await hashes())
    await expect(books.archive({ beforeStep: stop })).rejects.toThrow('killed')
    expect(await Promise.all(await hashes())).toEqual(written)
  })
})
