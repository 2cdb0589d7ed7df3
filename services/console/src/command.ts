import { openDatabase } from '@gateway/database/client'
import { preparedStatements, readConfig } from '@gateway/service-kit/process/config'
import { z } from 'zod'
import { checkAudit, isAnchor } from './audit/check-audit.ts'

// npm run audit check [-- --against <anchor>]
// Exit codes: 0 no findings; 1 findings; 64 usage error; 69 no database; 78 configuration error.

const USAGE = `npm run audit -- check [--against <anchor>]
  check      compute the seal of each entry of the audit again, and say which entries were changed or removed
  --against  and whether the audit still has what was anchored: <position>:<seal>, as the log of the console and each
             exported line have it
Reads DATABASE_URL or DATABASE_URL_FILE (a login of the role svc_console), and PREPARED_STATEMENTS.
`
const QUERY_LIMIT_MS = 20_000

const settings = z.object({
  DATABASE_URL: z.string().optional().meta({ description: 'Postgres connection URL of the audit', secret: true }),
  PREPARED_STATEMENTS: preparedStatements(),
})

function readSettings(): z.output<typeof settings> {
  try {
    return readConfig(settings, process.env)
  } catch (error) {
    end(78, `${(error as Error).message}\n`)
  }
}

function end(code: number, text: string): never {
  process.stderr.write(text)
  process.exit(code)
}

const [verb, option, against = null, ...more] = process.argv.slice(2)
const isRead = verb === 'check' && (option === undefined || option === '--against') && more.length === 0
if (!isRead || (option !== undefined && !isAnchor(against ?? ''))) end(64, USAGE)
const { DATABASE_URL: url, PREPARED_STATEMENTS } = readSettings()
if (url === undefined) end(69, 'DATABASE_URL is not set. Set it to the database to check.\n')
const { prisma, close } = await openDatabase({
  url,
  poolSize: 1,
  queryLimitMs: QUERY_LIMIT_MS,
  role: 'audit-check',
  preparedStatements: PREPARED_STATEMENTS,
}).catch((error: unknown) => end(69, `${error instanceof Error ? error.message : String(error)}\n`))
const { entries, findings, anchor } = await checkAudit({ prisma }, against)
await close()
for (const finding of findings) process.stdout.write(`${finding}\n`)
if (anchor !== null) process.stdout.write(`anchor ${anchor}\n`)
process.stdout.write(`${entries} entries checked, ${findings.length} findings\n`)
process.exitCode = findings.length === 0 ? 0 : 1
