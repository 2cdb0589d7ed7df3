import { openDatabase } from '@gateway/database/client'
import { checkAnchor, isAnchor, takeAnchor } from './check/anchor.ts'
import { checkBooks, sayFinding } from './check/check-books.ts'
import { readCommand } from './read-command.ts'

// npm run ledger check [-- --whole] [--against <anchor>] [<project> …]
// Derives the books again from the journal. Exit codes: 0 they add up, 1 they do not, 64 wrong words, 69 no database.

const USAGE = `npm run ledger -- check [--whole] [--against <anchor>] [<project> …]
  check      derive every balance and counter again from the journal, and say which micro-USD does not add up
  --whole    from the first entry on, instead of from where the last check ended
  --against  whole, and whether the books still have what was anchored: <number>:<hash>, as the log of the ledger has it
Reads DATABASE_URL (a login of the role svc_ledger); \`npm start\` writes one into its data folder.
`

/** Longer than Postgres lets a statement of this login take: its answer comes first. */
const QUERY_LIMIT_MS = 20_000

const command = readCommand(process.argv.slice(2), isAnchor)
if ('wrong' in command) {
  process.stderr.write(command.wrong + USAGE)
  process.exit(64)
}
const url = process.env['DATABASE_URL']
if (!url) {
  process.stderr.write('DATABASE_URL is not set: it says which books to check.\n')
  process.exit(69)
}

const database = await openDatabase({ url, poolSize: 1, queryLimitMs: QUERY_LIMIT_MS, role: 'ledger-check' }).catch(
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(69)
  },
)
const { projects, whole, against } = command
const { wallets, findings } = await checkBooks(database, { whole, ...(projects.length > 0 && { projects }) })
if (against !== null) findings.push(...(await checkAnchor(database, against)))
const anchor = findings.length === 0 && projects.length === 0 ? await takeAnchor(database) : null
await database.close()
for (const finding of findings) process.stdout.write(`${sayFinding(finding)}\n`)
if (anchor) process.stdout.write(`anchor ${anchor.text}\n`)
process.stdout.write(`${wallets} wallets checked, ${findings.length} findings\n`)
process.exitCode = findings.length === 0 ? 0 : 1
