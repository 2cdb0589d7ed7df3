import { describe, expect } from 'vitest'
import { archivedHeads, checkAnchor, takeAnchor } from '../check/anchor.ts'
import { formatFinding } from '../check/check-books.ts'
import { dayOf, monthsAgo, test } from '../fixtures/past-months.ts'
import { checkArchive } from './check-archive.ts'

const [first, third] = [monthsAgo(6), monthsAgo(4)] as const

describe('an anchor of archived entries', () => {
  test('is verified against the archive files, and asks for them if they are not given', async ({ books }) => {
    const { reads } = books.replica
    await books.call(dayOf(first, 3))
    const { text } = (await takeAnchor(reads))!
    await books.call(dayOf(first, 4))
    await books.rollUp()
    expect(await checkAnchor(reads, text)).toEqual([])
    await books.archive({ before: third })
    expect((await checkAnchor(reads, text)).map(formatFinding)).toEqual([
      expect.stringContaining('1 of its entries are archived: name the archive folder with --archive'),
    ])
    const wanted = await archivedHeads(reads, text)
    await checkArchive(books.folder, { database: reads, wanted })
    expect(await checkAnchor(reads, text, wanted)).toEqual([])
    for (const seals of wanted.values()) for (const seq of seals.keys()) seals.set(seq, Buffer.alloc(32))
    expect((await checkAnchor(reads, text, wanted)).map(formatFinding)).toEqual([
      expect.stringContaining('the seal of an anchored entry has changed'),
      expect.stringContaining('the books differ from the anchor'),
    ])
  })

  test('needs no files if its wallets have not moved since', async ({ books }) => {
    const { reads } = books.replica
    await books.call(dayOf(first, 3))
    const { text } = (await takeAnchor(reads))!
    await books.rollUp()
    await books.archive({ before: third })
    expect(await checkAnchor(reads, text)).toEqual([])
  })
})
