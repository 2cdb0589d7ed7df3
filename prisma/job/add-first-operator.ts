import { createHash, randomBytes } from 'node:crypto'
import { mintId, SHOWN_CHARACTERS } from '@gateway/api/ids'
import { openDatabase } from '@gateway/database/client'

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
export async function addFirstOperator({ url, email, token }: FirstOperator): Promise<boolean> {
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
