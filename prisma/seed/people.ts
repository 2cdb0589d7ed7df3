import { createHash, randomBytes } from 'node:crypto'
import type { PrismaClient } from '@gateway/database/client'
import { makeSecret, mintId, PERSON_TOKEN_PREFIX, SHOWN_CHARACTERS } from '@gateway/api/ids'
import { ids } from './ids.ts'
import type { Seeded, SeedOptions } from './seeded.ts'

const EMAIL = 'owner@example.test'

/** The organization, its one person, who may do everything in it and runs the platform, and the team. */
export async function seedPeople(
  prisma: PrismaClient,
  { before, consoleUrl }: Pick<SeedOptions, 'before' | 'consoleUrl'>,
): Promise<Pick<Seeded, 'email' | 'password' | 'consoleToken'>> {
  const { tenant, person, team } = ids
  await prisma.$transaction(async (tx) => {
    const fresh = { id: person, email: EMAIL, name: 'Owner', platformOperator: true }
    await tx.person.createMany({ data: [fresh], skipDuplicates: true })
    const { count } = await tx.tenant.createMany({ data: [{ id: tenant, name: 'Example' }], skipDuplicates: true })
    if (count > 0) await tx.membership.create({ data: { tenant, person, role: 'Admin' } })
    const teams = await tx.team.createMany({ data: [{ id: team, tenant, name: 'Research' }], skipDuplicates: true })
    if (teams.count > 0) await tx.teamMember.create({ data: { team, person, role: 'Team Owner' } })
  })
  const consoleToken = await workingToken(prisma, before?.consoleToken)
  const password = await workingPassword(prisma, { kept: before?.password, consoleUrl, consoleToken })
  return { email: EMAIL, password, consoleToken }
}

async function workingToken(prisma: PrismaClient, kept: string | undefined): Promise<string> {
  const secret = kept ?? makeSecret(PERSON_TOKEN_PREFIX, randomBytes(32))
  const hash = createHash('sha256').update(secret).digest()
  const prefix = secret.slice(0, SHOWN_CHARACTERS)
  const id = mintId('tok', Date.now(), randomBytes(10))
  const data = { id, person: ids.person, name: 'From the first start', hash, prefix }
  await prisma.personToken.createMany({ data: [data], skipDuplicates: true })
  return secret
}

/** A kept password counts as long as the person has one. How passwords are hashed is the console's affair, so it sets a new one. */
async function workingPassword(
  prisma: PrismaClient,
  { kept, consoleUrl, consoleToken }: { kept: string | undefined; consoleUrl: string; consoleToken: string },
): Promise<string> {
  const person = await prisma.person.findUniqueOrThrow({ where: { id: ids.person } })
  if (kept !== undefined && person.passwordHash !== null) return kept
  await prisma.person.update({ where: { id: ids.person }, data: { passwordHash: null } })
  const password = kept ?? randomBytes(12).toString('base64url')
  const answer = await fetch(`${consoleUrl}/api/v2/me/password`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${consoleToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ password }),
  })
  if (!answer.ok) throw new Error(`The console set no password: ${answer.status} ${await answer.text()}`)
  return password
}
