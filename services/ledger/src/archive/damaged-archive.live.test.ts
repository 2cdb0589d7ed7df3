import { copyFile, cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { createHash } from 'node:crypto'
import { describe, expect, test as fileTest } from 'vitest'
import { dayOf, monthsAgo, openPastBooks } from '../fixtures/past-months.ts'
import { checkArchive } from './check-archive.ts'
import { attemptsName, journalName, manifestName, walletsName } from './line-file.ts'

// Each test changes the files of an archive, and the check must name the change.

const months = [monthsAgo(6), monthsAgo(5), monthsAgo(4)] as const
const [first, second, third] = months

// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
const writtenTest = fileTest.extend('books', { scope: 'file' }, async ({}, { onCleanup }) => {
  const books = await openPastBooks()
  onCleanup(books.close)
  for (const month of months) for (const day of [3, 17]) await books.call(dayOf(month, day))
  await books.rollUp()
  await books.archive({ before: monthsAgo(3) })
  return books
})

/** Each test gets its own copy of the files. */
const test = writtenTest.extend('archive', async ({ books }, { onCleanup }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'archive-'))
  onCleanup(() => rm(folder, { recursive: true, force: true }))
  await cp(books.folder, folder, { recursive: true })
  const at = (file: string) => path.join(folder, file)
  return {
    folder,
    at,
    found: async () => (await checkArchive(folder, { database: null })).findings,
    foundWithBooks: async () => (await checkArchive(folder, { database: books.replica.reads })).findings,
    /** Changes the lines of a file and puts its new hash into the manifest. */
    async forge(month: string, file: string, change: (lines: string[]) => string[]) {
      const lines = gunzipSync(await readFile(at(file)))
        .toString()
        .trimEnd()
        .split('\n')
      const bytes = gzipSync(
        change(lines)
          .map((line) => `${line}\n`)
          .join(''),
      )
      await writeFile(at(file), bytes)
      const manifest = JSON.parse(await readFile(at(manifestName(month)), 'utf8')) as Record<string, unknown>
      for (const record of [manifest['journal'], manifest['wallets']] as { file: string }[])
        if (record.file === file)
          Object.assign(record, { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') })
      await writeFile(at(manifestName(month)), JSON.stringify(manifest))
    },
  }
})

describe('ledger check --archive', () => {
  test('finds nothing wrong in an undamaged archive', async ({ archive }) => {
    expect([await archive.found(), await archive.foundWithBooks()]).toEqual([[], []])
  })

  test('finds a flipped byte', async ({ archive }) => {
    const bytes = await readFile(archive.at(journalName(second)))
    bytes[bytes.length >> 1]! ^= 1
    await writeFile(archive.at(journalName(second)), bytes)
    expect(await archive.found()).toContainEqual(expect.stringContaining(`${journalName(second)} was changed`))
  })

  for (const name of [journalName, walletsName, manifestName] as const) {
    test(`finds that ${name('YYYY-MM')} is missing`, async ({ archive }) => {
      await rm(archive.at(name(second)))
      expect(await archive.found()).toContain(`${name(second)} is missing`)
    })
  }

  test('checks the months after a damaged one and reports only what is wrong', async ({ archive }) => {
    await rm(archive.at(journalName(first)))
    expect(await archive.found()).toEqual([`${journalName(first)} is missing`])
    await archive.forge(third, journalName(third), (lines) =>
      lines.map((line) => line.replace('"charged_micro":"30"', '"charged_micro":"29"')),
    )
    expect(await archive.found()).toContainEqual(expect.stringContaining('the usage record has a different charge'))
  })

  test('finds a missing file of usage records', async ({ archive }) => {
    await rm(archive.at(attemptsName(first)))
    expect(await archive.found()).toEqual([`${attemptsName(first)} is missing`])
  })

  test('finds a truncated file', async ({ archive }) => {
    const bytes = await readFile(archive.at(journalName(second)))
    await writeFile(archive.at(journalName(second)), bytes.subarray(0, bytes.length - 20))
    expect(await archive.found()).toContainEqual(
      expect.stringContaining(`${journalName(second)} has ${bytes.length - 20} bytes instead of ${bytes.length}`),
    )
  })

  test('finds a removed entry even if the manifest was rewritten', async ({ archive }) => {
    await archive.forge(second, journalName(second), (lines) => lines.filter((_, n) => n !== 1))
    expect(await archive.found()).toEqual(
      expect.arrayContaining([
        expect.stringContaining('the seal does not match its entries'),
        expect.stringContaining(`${journalName(second)} has 3 lines instead of 4`),
        `${manifestName(third)} does not follow ${manifestName(second)}`,
      ]),
    )
    expect(await archive.foundWithBooks()).toContain(
      `${manifestName(second)} differs from the manifest recorded in the database`,
    )
  })

  test('finds a removed wallet', async ({ archive }) => {
    await archive.forge(second, walletsName(second), () => [])
    expect(await archive.found()).toEqual(
      expect.arrayContaining([
        expect.stringContaining(`${journalName(second)} has 4 entries of wallets not in ${walletsName(second)}`),
        expect.stringContaining(
          `its opening balance, of entry 9, differs from the previous closing balance, of entry 5`,
        ),
      ]),
    )
  })

  test('finds a changed balance', async ({ archive }) => {
    await archive.forge(second, walletsName(second), (lines) =>
      lines.map((line) => line.replace('"settled":"120"', '"settled":"20"')),
    )
    expect(await archive.found()).toEqual(
      expect.arrayContaining([
        expect.stringContaining('its entries end with 9 and 120 micro-USD settled, its closing balance with 9 and 20'),
        expect.stringContaining('its opening balance, of entry 9, differs from the previous closing balance'),
      ]),
    )
  })

  test('finds a changed amount', async ({ archive }) => {
    await archive.forge(second, journalName(second), (lines) =>
      lines.map((line) => line.replace('"charged_micro":"30"', '"charged_micro":"29"')),
    )
    expect(await archive.found()).toContainEqual(
      expect.stringContaining('the usage record has a different charge: expected 30, found 29'),
    )
  })

  test('finds swapped months', async ({ archive }) => {
    for (const name of [journalName, walletsName, manifestName]) {
      await rename(archive.at(name(first)), archive.at('kept'))
      await rename(archive.at(name(second)), archive.at(name(first)))
      await rename(archive.at('kept'), archive.at(name(second)))
    }
    expect(await archive.found()).toEqual(
      expect.arrayContaining([
        `${manifestName(first)} is the manifest of ${second}`,
        `${manifestName(second)} is the manifest of ${first}`,
      ]),
    )
  })

  test('finds the file of another month under the wrong name', async ({ archive }) => {
    await copyFile(archive.at(journalName(first)), archive.at(journalName(second)))
    expect((await archive.found()).join()).toContain(journalName(second))
  })

  test('finds missing first months, and a month that the database has not recorded', async ({
    archive,
    books: { unguarded },
    onTestFinished,
  }) => {
    const { rows } = await unguarded('DELETE FROM money.archives WHERE month = $1 RETURNING to_json(archives) AS row', [
      `${second}-01`,
    ])
    const put = 'INSERT INTO money.archives SELECT * FROM json_populate_record(NULL::money.archives, $1)'
    onTestFinished(async () => void (await unguarded(put, [(rows as { row: object }[])[0]!.row])))
    expect(await archive.foundWithBooks()).toContain(`${manifestName(second)} is not recorded in the database`)
    for (const name of [journalName, walletsName, manifestName]) await rm(archive.at(name(first)))
    expect(await archive.found()).toContain(`the months before ${second} are missing`)
  })

  test('finds that a folder has no manifests', async ({ archive }) => {
    for (const month of months) await rm(archive.at(manifestName(month)))
    expect(await archive.found()).toEqual([`${archive.folder} has no manifests`])
  })
})
