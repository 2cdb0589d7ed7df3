// Fills an empty stack, so that everything can be tried by hand (rules §8.1).
//   S1  Safe to repeat: what is there stays as someone may have changed it since; only what is missing is made.
//   S2  Secrets can't be read back from the books, so the caller keeps them; one that no longer works is replaced.
//   S3  Money comes in through the ledger, once, like all money.
import { openDatabase, type PrismaClient } from '@gateway/database/client'
import { openLedgerClient } from '@gateway/ledger-client/ledger-client'
import { assignProducts, media, seedCatalogue } from './catalogue.ts'
import { seedFlows } from './flows.ts'
import { ids, type Seeded, type SeedOptions } from './seeded.ts'
import { createHash, randomBytes } from 'node:crypto'
import { makeSecret, mintId, USER_TOKEN_PREFIX, SHOWN_CHARACTERS, KEY_SECRET_PREFIX } from '@gateway/api/ids'
import { userScopes } from '@gateway/api/console/scopes'
import { keyLimits } from '@gateway/api/limits'

const FUNDS_MICRO = 100_000_000 // 100 USD
const OTHER_FUNDS_MICRO = 10_000_000

export async function seed(options: SeedOptions): Promise<Seeded> {
  const { prisma, close } = await openDatabase({ url: options.adminUrl, poolSize: 2, role: 'seed' })
  const ledger = openLedgerClient({ url: options.ledgerUrl, service: 'console', privateKey: options.consolePrivateKey })
  try {
    const user = await seedUsers(prisma, options)
    await seedProjects(prisma)
    const models = await seedCatalogue(prisma, options.realModels)
    const keys = await seedKeys(prisma, options.before)
    await fund(ids.project, FUNDS_MICRO) // S3
    await fund(ids.otherProject, OTHER_FUNDS_MICRO)
    const sandboxes = await seedFlows({ ...options, consoleToken: user.consoleToken })
    return { ...user, tenant: ids.tenant, project: ids.project, ...keys, models, media, sandboxes }
  } finally {
    await ledger.close()
    await close()
  }

  async function fund(project: string, micro: number): Promise<void> {
    const { fresh } = await ledger.fund({ project, fundingId: 'seed', micro, fundedBy: ids.user }, { budgetMs: 30_000 })
    if (fresh) options.log(`Funded the project ${project} with ${micro / 1_000_000} USD.`)
  }
}

/** Two projects of one team, so that what keeps them apart can be tried by hand. One that was deleted is made whole again. */
async function seedProjects(prisma: PrismaClient): Promise<void> {
  const { tenant, team, user } = ids
  for (const [id, name] of [
    [ids.project, 'First project'],
    [ids.otherProject, 'Other project'],
  ] as const) {
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.project.createMany({ data: [{ id, tenant, team, name }], skipDuplicates: true })
      if (count === 0) return
      await tx.projectGrant.create({ data: { project: id, user, role: 'Project Owner' } })
      await assignProducts(tx, id)
      await tx.$queryRaw`SELECT FROM control.set_default_alerts(${id}, ${user}, NULL)`
    })
  }
}

const TOKEN_DAYS = 365
const DAY_MS = 86_400_000
const EMAIL = 'owner@example.test'

/** The organization, its one user, who may do everything in it and runs the platform, and the team. */
async function seedUsers(
  prisma: PrismaClient,
  { before, consoleUrl, log }: Pick<SeedOptions, 'before' | 'consoleUrl' | 'log'>,
): Promise<Pick<Seeded, 'email' | 'password' | 'passwordChecked' | 'consoleToken'>> {
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
  const password = await workingPassword(prisma, { before, consoleUrl, consoleToken, log })
  return { email: EMAIL, ...password, consoleToken }
}

/** The kept secret, unless it has been deleted or has expired since: then that of a new token. */
async function workingToken(prisma: PrismaClient, kept: string | undefined): Promise<string> {
  if (kept !== undefined) {
    const works = { hash: hashOf(kept), expiresAt: { gt: new Date() } }
    if ((await prisma.userToken.count({ where: works })) > 0) return kept
  }
  const secret = makeSecret(USER_TOKEN_PREFIX, randomBytes(32))
  const prefix = secret.slice(0, SHOWN_CHARACTERS)
  const id = mintId('tok', Date.now(), randomBytes(10))
  const expiresAt = new Date(Date.now() + TOKEN_DAYS * DAY_MS)
  const scopes = [...userScopes, 'operator']
  const data = { id, user: ids.user, name: 'From the first start', hash: hashOf(secret), prefix, scopes, expiresAt }
  await prisma.userToken.create({ data })
  return secret
}

/**
 * The kept password, if it still is that of the user. How passwords are hashed is the console's affair, so it sets one where
 * there is none. null: the user has set one since, which stays, or signs in at a provider.
 */
async function workingPassword(
  prisma: PrismaClient,
  {
    before,
    consoleUrl,
    consoleToken,
    log,
  }: Pick<SeedOptions, 'before' | 'consoleUrl' | 'log'> & { consoleToken: string },
): Promise<Pick<Seeded, 'password' | 'passwordChecked'>> {
  const kept = before?.password
  const { email, passwordHash, disabledAt } = await prisma.user.findUniqueOrThrow({ where: { id: ids.user } })
  if (kept !== undefined && passwordHash !== null) {
    if (kept === null) return { password: null }
    // A new password ends every token. A disabled user can't set one, nor sign in.
    if (before?.passwordChecked && consoleToken === before.consoleToken)
      return { password: kept, passwordChecked: true }
    if (disabledAt !== null) return { password: kept }
    const status = await signInStatus(consoleUrl, { email, password: kept })
    if (status === 201 || status === 202) return { password: kept, passwordChecked: true }
    if (status !== 401) return { password: kept } // says nothing about it, such as after too many failed sign-ins
    log(`The password of ${email} has been changed since the first start.`)
    return { password: null }
  }
  await prisma.user.update({ where: { id: ids.user }, data: { passwordHash: null } })
  const password = kept ?? randomBytes(12).toString('base64url')
  const answer = await fetch(`${consoleUrl}/api/v2/me/password`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${consoleToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ password }),
  })
  if (answer.ok) return { password, passwordChecked: true }
  log(`The console did not set a password: ${answer.status} ${await answer.text()}`)
  await prisma.user.update({ where: { id: ids.user }, data: { passwordHash } })
  return { password: null }
}

/** Signs in by password. Leaves no session. */
async function signInStatus(consoleUrl: string, login: { email: string; password: string }): Promise<number> {
  const at = `${consoleUrl}/api/v2/session`
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(at, { method: 'POST', headers, body: JSON.stringify(login) })
  const cookies = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  if (answer.status === 201) await fetch(at, { method: 'DELETE', headers: { Cookie: cookies.join('; ') } })
  return answer.status
}

const EXPIRY_DAYS = keyLimits.expiryDays.max

/** A key of each project, and one from before keys were bound to projects. */
async function seedKeys(
  prisma: PrismaClient,
  before: Partial<Seeded> | null,
): Promise<Pick<Seeded, 'key' | 'legacyKey' | 'otherProject'>> {
  return {
    key: await workingKey(prisma, before?.key, 'First key', ids.project),
    legacyKey: await workingKey(prisma, before?.legacyKey, 'Legacy key', null),
    otherProject: {
      project: ids.otherProject,
      key: await workingKey(prisma, before?.otherProject?.key, 'Key of the other project', ids.otherProject),
    },
  }
}

/** The kept secret, unless it has been revoked, rotated or has expired since: then that of a new key. */
async function workingKey(
  prisma: PrismaClient,
  kept: string | undefined,
  name: string,
  project: string | null,
): Promise<string> {
  if (kept !== undefined) {
    const found = await prisma.key.findUnique({ where: { hash: hashOf(kept) } })
    const expired = found?.expiresAt !== null && (found?.expiresAt ?? 0) <= new Date()
    if (found && found.revokedAt === null && found.rotatedTo === null && !expired) return kept
  }
  const secret = makeSecret(KEY_SECRET_PREFIX, randomBytes(32))
  const now = Date.now()
  const id = mintId('key', now, randomBytes(10))
  await prisma.key.create({
    data: {
      id,
      hash: hashOf(secret),
      prefix: secret.slice(0, SHOWN_CHARACTERS),
      name,
      tenant: ids.tenant,
      project,
      lineage: id,
      policy: 'all-eligible',
      createdBy: ids.user,
      ...(project !== null && { expiresAt: new Date(now + EXPIRY_DAYS * DAY_MS), expiryDays: EXPIRY_DAYS }),
    },
  })
  return secret
}

function hashOf(secret: string): Uint8Array<ArrayBuffer> {
  return createHash('sha256').update(secret).digest()
}
