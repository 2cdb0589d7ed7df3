import { openDatabase, type Database } from '@gateway/database/client'
import { checkArchive } from './archive/check-archive.ts'
import { archivedHeads, checkAnchor, takeAnchor } from './check/anchor.ts'
import { checkBooks, formatFinding } from './check/check-books.ts'
import { type Environment, preparedStatements, readConfig } from '@gateway/service-kit/process/config'
import { redactText } from '@gateway/service-kit/text/redact'
import { z } from 'zod'
import type { CheckCommand } from './read-command.ts'

const checkConfig = z.object({
  DATABASE_URL: z
    .string()
    .optional()
    .meta({ description: 'Postgres connection URL of the books; without it only an archive is checked', secret: true }),
  PREPARED_STATEMENTS: preparedStatements(),
})

/** Longer than the statement timeout of this login, so that Postgres answers first. */
const QUERY_LIMIT_MS = 20_000

const say = (line: string) => void process.stdout.write(`${line}\n`)

/**
 * Derives the books again from the journal, and from an archive if one is named. Returns the exit code.
 */
export async function runCheck(command: CheckCommand, environment: Environment): Promise<number> {
  let config: z.output<typeof checkConfig>
  try {
    config = readConfig(checkConfig, environment)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    return 78
  }
  const { DATABASE_URL: url } = config
  if (url === undefined) {
    if (command.archive !== null && command.against === null) return checkFiles(command.archive)
    process.stderr.write('DATABASE_URL is not set. Set it to the database to check.\n')
    return 69
  }
  let database: Database
  try {
    database = await openDatabase({
      url,
      poolSize: 1,
      queryLimitMs: QUERY_LIMIT_MS,
      role: 'ledger-check',
      preparedStatements: config.PREPARED_STATEMENTS,
    })
  } catch (error) {
    process.stderr.write(`${redactText(error instanceof Error ? error.message : String(error))}\n`)
    return 69
  }
  try {
    return await check(database, command)
  } finally {
    await database.close()
  }
}

async function check(database: Database, { projects, whole, against, archive }: CheckCommand): Promise<number> {
  const there = await database.prisma.wallet.findMany({
    select: { project: true },
    ...(projects.length > 0 && { where: { project: { in: projects } } }),
  })
  const missing = projects.filter((name) => !there.some(({ project }) => project === name))
  // A check that sees nothing is not a clean one.
  if (there.length === 0 || missing.length > 0) {
    process.stderr.write(
      `There is no wallet ${missing.length > 0 ? `of ${missing.join(', ')}` : 'in this database'}.\n`,
    )
    return 69
  }
  const wanted = against !== null && archive !== null ? await archivedHeads(database, against) : null
  const archived = archive === null ? null : await checkArchive(archive, { database, ...(wanted && { wanted }) })
  const errors: Error[] = []
  const failed = (error: Error) => void errors.push(error)
  const { wallets, findings } = await checkBooks(database, { whole, failed, ...(projects.length > 0 && { projects }) })
  if (against !== null) findings.push(...(await checkAnchor(database, against, wanted)))
  const all = [...(archived?.findings ?? []), ...findings.map(formatFinding)]
  const isClean = all.length === 0 && errors.length === 0
  const anchor = isClean && projects.length === 0 ? await takeAnchor(database) : null
  for (const finding of all) say(finding)
  for (const error of errors) say(formatFailure(error))
  for (const note of archived?.notes ?? []) say(note)
  if (archived) say(`${archived.months} archived months with ${archived.entries} entries checked`)
  if (anchor) say(`anchor ${anchor.text}`)
  const unmoved = there.length - wallets
  if (unmoved > 0 && errors.length === 0)
    say(`${unmoved} wallets have no entry since their last check; --whole checks them from the first one`)
  const failures = errors.length === 0 ? '' : `, ${errors.length} ${errors.length === 1 ? 'check' : 'checks'} failed`
  say(`${wallets} wallets checked, ${all.length} findings${failures}`)
  return isClean ? 0 : 1
}

/** Formats what could not be checked, and why, as one line. */
function formatFailure({ message, cause }: Error): string {
  const why = cause instanceof Error ? cause.message : String(cause)
  return redactText(`${message}: ${why.trim().replaceAll(/\s+/g, ' ')}`)
}

async function checkFiles(folder: string): Promise<number> {
  const { months, entries, findings } = await checkArchive(folder, { database: null })
  for (const finding of findings) say(finding)
  say(
    `${months} archived months with ${entries} entries checked, ${findings.length} findings; books not checked, because DATABASE_URL is not set`,
  )
  return findings.length === 0 ? 0 : 1
}
