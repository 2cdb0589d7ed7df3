import { runArchive } from './run-archive.ts'
import { runCheck } from './run-check.ts'
import { readCommand } from './read-command.ts'

// npm run ledger check [-- --whole] [--against <anchor>] [--archive <folder>] [<project> …]
// npm run ledger archive [-- --before <month>] [--to <folder>] [--dry]
// Exit codes: 0 no findings, or done; 1 findings, or failed; 64 usage error; 69 no database; 78 configuration error.

const USAGE = `npm run ledger -- check [--whole] [--against <anchor>] [--archive <folder>] [<project> …]
  check      derive every balance and counter again from the journal, and say which micro-USD does not add up
  --whole    from the first entry on that is not archived, instead of from where the last check ended
  --against  whole, and whether the books still have what was anchored: <number>:<hash>, as the log of the ledger has it
  --archive  the archived months in a folder as well: their files, and that each continues where the one before ended
Reads DATABASE_URL (a login of the role svc_ledger); \`npm start\` writes one into its data folder. Without it --archive
checks the files alone.

npm run ledger -- archive [--before <month>] [--to <folder>] [--dry]
  archive    write the months of the books that are over for long to files, and drop them from the database
  --before   only months before this one, such as 2026-08
  --to       the folder for the files; default: ARCHIVE_FOLDER
  --dry      say what would be done
Reads DATABASE_URL (the owner's login, as the migration job has it), ARCHIVE_FOLDER and ARCHIVE_AFTER_DAYS.
`

const command = readCommand(process.argv.slice(2))
if ('wrong' in command) {
  process.stderr.write(command.wrong + USAGE)
  process.exit(64)
}
process.exitCode =
  command.verb === 'check'
    ? await runCheck(command, process.env['DATABASE_URL'])
    : await runArchive(command, process.env)
