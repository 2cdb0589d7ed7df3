import { createHash, randomBytes } from 'node:crypto'
import type { PrismaClient } from '@gateway/database/client'
import { makeSecret, mintId, USER_TOKEN_PREFIX, SHOWN_CHARACTERS } from '@gateway/api/ids'
import { userScopes } from '@gateway/api/console/scopes'
import { ids } from './ids.ts'
import type { Seeded, SeedOptions } from './seeded.ts'

const TOKEN_DAYS = 365
const EMAIL = 'owner@example.test'

/** The organization, its one user, who may do everything in it and runs the platform, and the team. */
export async function seedUsers(
  prisma: PrismaClient,
  { before, consoleUrl }: Pick<SeedOptions, 'before' | 'consoleUrl'>,
): Promise<Pick<Seeded, 'email' | 'password' | 'consoleToken'>> {
  const { tenant, user, team } = ids
  await prisma.$transaction(async (tx) => {
    const fresh = { id: user, email: EMAIL, name: 'Owner', platformOperator: true }
    await tx.user.createMany({ data: [fresh], skipDuplicates: true })
    const { count } = await tx.tenant.createMany({ data: [{ id: tenant, name: 'Example' }], skipDuplicates: true })
    if (count > 0) await tx.membership.create({ data: { tenant, user, role: 'Admin' } })
    const teams = await tx.team.createMany({ data: [{ id: team, tenant, name: 'Research' }], skipDuplicates: true })
    if (teams.count > 0) await tx.teamMember.create({ data: { team, user, role: 'Team Owner' } })
  })
  const consoleToken = await workingToken(prisma, before?.consoleToken)
  const password = await workingPassword(prisma, { kept: before?.password, consoleUrl, consoleToken })
  return { email: EMAIL, password, consoleToken }
}

async function workingToken(prisma: PrismaClient, kept: string | undefined): Promise<string> {
  const secret = kept ?? makeSecret(USER_TOKEN_PREFIX, randomBytes(32))
  const hash = createHash('sha256').update(secret).digest()
  const prefix = secret.slice(0, SHOWN_CHARACTERS)
  const id = mintId('tok', Date.now(), randomBytes(10))
  const expiresAt = new Date(Date.now() + TOKEN_DAYS * 86_400_000)
  const scopes = [...userScopes, 'operator']
  const data = { id, user: ids.user, name: 'From the first start', hash, prefix, scopes, expiresAt }
  await prisma.userToken.createMany({ data: [data], skipDuplicates: true })
  return secret
}

/** A kept password counts as long as the user has one. How passwords are hashed is the console's affair, so it sets a new one. */
async function workingPassword(
  prisma: PrismaClient,
  { kept, consoleUrl, consoleToken }: { kept: string | undefined; consoleUrl: string; consoleToken: string },
): Promise<string> {
  const user = await prisma.user.findUniqueOrThrow({ where: { id: ids.user } })
  if (kept !== undefined && user.passwordHash !== null) return kept
  await prisma.user.update({ where: { id: ids.user }, data: { passwordHash: null } })
  const password = kept ?? randomBytes(12).toString('base64url')
  const answer = await fetch(`${consoleUrl}/api/v2/me/password`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${consoleToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ password }),
  })
  if (!answer.ok) throw new Error(`The console didn't set the password: ${answer.status} ${await answer.text()}`)
  return password
}
