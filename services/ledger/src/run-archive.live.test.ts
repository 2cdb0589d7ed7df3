import { execFile } from 'node:child_process'
import path from 'node:path'
import { describe, expect } from 'vitest'
import { dayOf, monthsAgo, test } from './fixtures/past-months.ts'

const COMMAND = path.join(import.meta.dirname, 'command.ts')

interface Ended {
  code: number | null
  said: string
}

/** Runs the command in a separate process, and kills it after `killAfterMs` unless that is 0. */
function run(words: string[], env: Record<string, string>, killAfterMs = 0): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env, timeout: killAfterMs, killSignal: 'SIGKILL' as const }
    const child = execFile(process.execPath, [COMMAND, ...words], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, said: stdout + stderr }),
    )
  })
}

const months = [6, 5, 4].map(monthsAgo)
/** Archives the three months above, on whichever day the test runs. */
const archive = ['archive', '--before', monthsAgo(3)]

describe('npm run ledger archive', () => {
  test('completes the archive when run again after being killed at any moment', async ({ books }) => {
    for (const month of months) for (const day of [3, 9, 17]) await books.call(dayOf(month, day))
    await books.rollUp()
    const env = { DATABASE_URL: books.database.adminUrl, ARCHIVE_FOLDER: books.folder }
    const kills: (number | null)[] = []
    for (let n = 0; n < 8; n++) {
      kills.push((await run(archive, env, 400 + n * 200)).code)
      expect(await books.check()).toEqual([])
    }
    expect(kills).toContain(null)
    expect(await run(archive, env)).toMatchObject({ code: 0 })
    expect((await run(archive, env)).said).toBe('No month is due.\n')
    const checked = await run(['check', '--archive', books.folder], { DATABASE_URL: books.database.ledgerUrl })
    expect(checked).toEqual({
      code: 0,
      said: expect.stringMatching(
        /^3 archived months with 19 entries checked\nanchor .*\n1 wallets checked, 0 findings\n$/,
      ),
    })
    expect(await run(['check', '--archive', books.folder], {})).toEqual({
      code: 0,
      said: '3 archived months with 19 entries checked, 0 findings; books not checked, because DATABASE_URL is not set\n',
    })
  })

  test('prints one sentence about what is missing', async ({ books }) => {
    const { adminUrl, ledgerUrl } = books.database
    expect(await run(['archive', '--to', books.folder], {})).toEqual({
      code: 78,
      said: expect.stringMatching(/^DATABASE_URL .*\n$/),
    })
    expect(await run(['archive'], { DATABASE_URL: adminUrl })).toEqual({
      code: 78,
      said: 'ARCHIVE_FOLDER is not set. Set it to the folder for the files, or use --to.\n',
    })
    const tooSoon = { DATABASE_URL: adminUrl, ARCHIVE_FOLDER: books.folder, ARCHIVE_AFTER_DAYS: '30' }
    expect(await run(['archive'], tooSoon)).toEqual({
      code: 78,
      said: expect.stringMatching(/^ARCHIVE_AFTER_DAYS .*a whole number from 31 to 3650.*\n$/),
    })
    expect(await run(['archive', '--to', books.folder], { DATABASE_URL: ledgerUrl })).toEqual({
      code: 1,
      said: expect.stringMatching(/^DATABASE_URL uses the login svc_ledger_login, which can't drop tables\. .*\n$/),
    })
    expect(await run(['check', '--archive', books.folder], {})).toEqual({
      code: 1,
      said: expect.stringMatching(/ has no manifests\n0 archived months .*\n$/),
    })
  })
})
