import { migrate } from '@gateway/database/migrate'
import { ensureRoles } from '@gateway/database/roles'
import type { JobConfig } from './config.ts'
import { createHash, randomBytes } from 'node:crypto'
import { mintId, SHOWN_CHARACTERS } from '@gateway/api/ids'
import { openDatabase, type Prisma } from '@gateway/database/client'

/**
 * Makes a database ready for the services of this version: migrations and functions, then their logins, then someone who may begin.
 * Safe to repeat, and at the same moment elsewhere. The services of the version before continue meanwhile: migrations
 * only expand and contract.
 */
export async function prepare(config: JobConfig, log: (line: string) => void): Promise<void> {
  const { DATABASE_URL: url, LEDGER_DATABASE_PASSWORD: ledger, CONSOLE_DATABASE_PASSWORD: console } = config
  const applied = await migrate({ url, log, ...(config.MIGRATE_AGAIN && { again: config.MIGRATE_AGAIN }) })
  log(applied.length > 0 ? `Applied ${applied.length} migrations and functions.` : 'Nothing to migrate.')
  if (ledger !== undefined && console !== undefined) {
    await ensureRoles(url, { ledger, console })
    log('Set the passwords of the logins of ledger and console.')
  }
  if (config.OPERATOR_EMAIL !== undefined)
    log(await addFirstOperator({ url, email: config.OPERATOR_EMAIL, token: config.OPERATOR_TOKEN ?? null }))
}

// The one user whom no one could add: who runs the platform, and adds the others.
//   O1  Only where there is no operator yet: anyone who can change a variable later gains nothing by it.
//   O2  The token is a way in to set a password, and ends after a day.
//   O3  An only operator who has never signed in, and so may have missed that day, gets another token for it. The same
//       token again changes nothing: it would never end where the job runs at every start.

const DAY_MS = 86_400_000

interface FirstOperator {
  /** Postgres by the login that owns the schema. */
  url: string
  /** Lower case. */
  email: string
  /** A personal token to begin with; null where the operator signs in through a provider. */
  token: string | null
}

/** Returns what was done, for the log. */
async function addFirstOperator({ url, email, token }: FirstOperator): Promise<string> {
  const { prisma, close } = await openDatabase({ url, poolSize: 1, role: 'job' })
  try {
    return await prisma.$transaction(async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('svc first operator'))`
      const operators = await tx.user.findMany({ where: { platformOperator: true }, take: 2 })
      if (operators.length > 0) return renewToken(tx, operators, { email, token })
      const { id: user } = await tx.user.upsert({
        where: { email },
        create: { id: mintId('usr', Date.now(), randomBytes(10)), email, name: 'Operator', platformOperator: true },
        update: { platformOperator: true },
      })
      if (token !== null) await createToken(tx, user, token)
      const audit = { tenant: null, user, action: 'operator.first', subject: user, details: {} }
      await tx.auditEntry.create({ data: audit, select: { id: true } })
      return `Added ${email} as platform operator.`
    })
  } finally {
    await close()
  }
}

/** O1 and O3. */
async function renewToken(
  tx: Prisma.TransactionClient,
  [operator, other]: readonly { id: string; email: string; passwordHash: string | null }[],
  { email, token }: Omit<FirstOperator, 'url'>,
): Promise<string> {
  const exists = 'A platform operator already exists.'
  if (token === null) return exists
  const known = await tx.userToken.findUnique({ where: { hash: hashOf(token) } })
  if (known !== null && known.expiresAt > new Date()) return exists
  const unused = `${exists} OPERATOR_TOKEN was not used.`
  if (operator === undefined || other !== undefined || operator.email !== email) return unused
  const { id: user, passwordHash } = operator
  if (passwordHash !== null || (await tx.userIdentity.count({ where: { user } })) > 0) return unused
  if (known !== null) return `The token of ${email} has expired. Make another with new-token, and run this job again.`
  await tx.userToken.deleteMany({ where: { user } })
  await createToken(tx, user, token)
  return `${email} has never signed in, and can do so with this token for a day.`
}

async function createToken(tx: Prisma.TransactionClient, user: string, token: string): Promise<void> {
  const now = Date.now()
  const prefix = token.slice(0, SHOWN_CHARACTERS)
  const more = { name: 'First sign-in', expiresAt: new Date(now + DAY_MS), scopes: ['account:write'] } // O2
  const id = mintId('tok', now, randomBytes(10))
  await tx.userToken.create({ data: { id, user, hash: hashOf(token), prefix, ...more } })
}

function hashOf(token: string): Uint8Array<ArrayBuffer> {
  return createHash('sha256').update(token).digest()
}
