import { NotArchivable } from './archive/month.ts'
import { openDatabase, type Database } from '@gateway/database/client'
import { ConfigurationError, readConfig, type Environment } from '@gateway/service-kit/process/config'
import { redactText } from '@gateway/service-kit/text/redact'
import { archiveBooks } from './archive/archive-books.ts'
import { archiveConfig } from './archive/config.ts'
import type { ArchiveCommand } from './read-command.ts'

/** A step of the archive reads a few thousand rows; dropping a detached partition copies nothing. */
const QUERY_LIMIT_MS = 600_000

/** Archives the months that are due. Returns the exit code. */
export async function runArchive({ before, to, dry }: ArchiveCommand, environment: Environment): Promise<number> {
  let database: Database | undefined
  try {
    const config = readConfig(archiveConfig, environment)
    const folder = to ?? config.ARCHIVE_FOLDER
    if (folder === undefined)
      throw new ConfigurationError(['ARCHIVE_FOLDER is not set. Set it to the folder for the files, or use --to.'])
    database = await openDatabase({
      url: config.DATABASE_URL,
      poolSize: 1,
      queryLimitMs: QUERY_LIMIT_MS,
      role: 'ledger-archive',
    })
    const log = (line: string) => void process.stdout.write(`${line}\n`)
    await archiveBooks(database, { folder, afterDays: config.ARCHIVE_AFTER_DAYS, before, dry, log })
    return 0
  } catch (error) {
    process.stderr.write(`${redactText(error instanceof Error ? error.message : String(error))}\n`)
    if (error instanceof ConfigurationError) return 78
    if (database === undefined) return 69
    if (!(error instanceof NotArchivable)) process.stderr.write(`${redactText(String((error as Error).stack))}\n`)
    return 1
  } finally {
    await database?.close()
  }
}
