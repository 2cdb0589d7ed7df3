import { openDatabase } from '@gateway/database/client'
import { checkBooks, sayFinding } from './check/check-books.ts'

// npm run ledger check [-- --whole] [<project> …]
// Derives the books again from the journal. Exit codes: 0 they add up, 1 they do not, 64 wrong words, 69 no database.

const USAGE = `npm run ledger -- check [--whole] [<project> …]
  check     derive every balance and counter again from the journal, and say which micro-USD does not add up
  --whole   from the first entry on, instead of from where the last check ended
Reads DATABASE_URL (a login of the role svc_ledger); \`npm start\` writes one into its data folder.
`

/** Longer than Postgres lets a statement of this login take: its answer comes first. */
const QUERY_LIMIT_MS = 20_000

const [verb, ...words] = process.argv.slice(2)
const unknown = words.find((word) => word.startsWith('-') && word !== '--whole')
const url = process.env['DATABASE_URL']
if (verb !== 'check' || unknown) {
  process.stderr.write((unknown ? `I don't know ${unknown}.\n` : '') + USAGE)
  process.exit(64)
}
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
const projects = words.filter((word) => word !== '--whole')
const { wallets, findings } = await checkBooks(database, {
  whole: words.includes('--whole'),
  ...(projects.length > 0 && { projects }),
})
await database.close()
for (const finding of findings) process.stdout.write(`${sayFinding(finding)}\n`)
process.stdout.write(`${wallets} wallets checked, ${findings.length} findings\n`)
process.exitCode = findings.length === 0 ? 0 : 1
