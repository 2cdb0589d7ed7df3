import { migrate } from '@gateway/database/migrate'
import { ensureRoles } from '@gateway/database/roles'
import type { JobConfig } from './config.ts'
import { createHash, randomBytes } from 'node:crypto'
import { mintId, SHOWN_CHARACTERS } from '@gateway/api/ids'
import { openDatabase } from '@gateway/database/client'

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
  if (config.OPERATOR_EMAIL !== undefined) {
    const added = await addFirstOperator({ url, email: config.OPERATOR_EMAIL, token: config.OPERATOR_TOKEN ?? null })
    log(added ? `Added ${config.OPERATOR_EMAIL} as platform operator.` : 'A platform operator already exists.')
  }
}

// The one user whom no one could add: who runs the platform, and adds the others.
//   O1  Only where there is no operator yet: anyone who can change a variable later gains nothing by it.
//   O2  The token is a way in to set a password, and ends after a day.

const DAY_MS = 86_400_000

interface FirstOperator {
  /** Postgres by the login that owns the schema. */
  url: string
  /** Lower case. */
  email: string
  /** A personal token to begin with; null where the operator signs in through a provider. */
  token: string | null
}

/** Answers whether the user was added. */
async function addFirstOperator({ url, email, token }: FirstOperator): Promise<boolean> {
  const { prisma, close } = await openDatabase({ url, poolSize: 1, role: 'job' })
  try {
    return await prisma.$transaction(async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('svc first operator'))`
      if ((await tx.user.count({ where: { platformOperator: true } })) > 0) return false // O1
      const nowMs = Date.now()
      const { id: user } = await tx.user.upsert({
        where: { email },
        create: { id: mintId('usr', nowMs, randomBytes(10)), email, name: 'Operator', platformOperator: true },
        update: { platformOperator: true },
      })
      if (token !== null) {
        const hash = createHash('sha256').update(token).digest()
        const prefix = token.slice(0, SHOWN_CHARACTERS)
        const more = { name: 'First sign-in', expiresAt: new Date(nowMs + DAY_MS), scopes: ['account:write'] } // O2
        await tx.userToken.create({
          data: { id: mintId('tok', nowMs, randomBytes(10)), user, hash, prefix, ...more },
        })
      }
      const audit = { tenant: null, user, action: 'operator.first', subject: user, details: {} }
      await tx.auditEntry.create({ data: audit, select: { id: true } })
      return true
    })
  } finally {
    await close()
  }
}
