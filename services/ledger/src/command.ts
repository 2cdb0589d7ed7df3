import { runArchive } from './run-archive.ts'
import { runCheck } from './run-check.ts'
import { readCommand } from './read-command.ts'

// npm run ledger check [-- --whole] [--against <anchor>] [--archive <folder>] [<project> …]
// npm run ledger archive [-- --before <month>] [--to <folder>] [--dry]
// Exit codes: 0 no findings, or done; 1 findings, or failed; 64 usage error; 69 no database, or no wallet to check; 78 configuration error.

const USAGE = `npm run ledger -- check [--whole] [--against <anchor>] [--archive <folder>] [<project> …]
  check      derive every balance and counter again from the journal, and report every difference
  --whole    start at the first entry that is not archived, not where the last check ended
  --against  like --whole, and compare the books with an anchor: <number>:<hash>, from the log of the ledger
  --archive  like --whole, and check the archived months in a folder: their files, and that each continues the one before
Reads DATABASE_URL or DATABASE_URL_FILE (a login of the role svc_ledger; \`npm start\` writes one to its data folder), and
PREPARED_STATEMENTS. Without DATABASE_URL, --archive checks only the files.

npm run ledger -- archive [--before <month>] [--to <folder>] [--dry]
  archive    write old months of the books to files, and drop them from the database
  --before   only months before this one, such as 2026-08
  --to       the folder for the files; default: ARCHIVE_FOLDER
  --dry      print what would be done
Reads DATABASE_URL (the owner's login, as for the migration job), ARCHIVE_FOLDER and ARCHIVE_AFTER_DAYS.
`

const command = readCommand(process.argv.slice(2))
if ('wrong' in command) {
  process.stderr.write(command.wrong + USAGE)
  process.exit(64)
}
process.exitCode =
  command.verb === 'check' ? await runCheck(command, process.env) : await runArchive(command, process.env)
