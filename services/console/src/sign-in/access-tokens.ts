import type { AccessTokenRecord } from '@gateway/api/console/access-tokens'
import { ACCESS_TOKEN_PREFIX } from '@gateway/api/ids'
import type { Prisma } from '@gateway/database/client'
import { authorizeInProject, authorizeInTenant, changePermissions, inTenant } from '../permissions/authorize.ts'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { requireQuota } from '../projects/quotas.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { ACCESS_TOKEN, userOf, type User } from './user.ts'
import { boundedExpiry } from './scopes.ts'
import { issueSecret } from './secret.ts'
import { lockToken, MAKE_ANOTHER } from './tokens.ts'

// Tokens of an organization or of a project (rules §7.3).
//   T1  Its creator has every permission it lists: an Admin for the organization, a Project Owner for the project.
//   T2  It belongs to the organization or project, not to its creator: it outlives their membership until it expires or
//       is deleted. One that a personal token created ends with that token (end-credentials.ts).
//   T3  It is looked up on each request, so a deleted or expired token is refused from the next request on.

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'now' | 'quotas'>
type Scope = { tenant: string; project: string | null }
type TokenRow = Omit<AccessTokenRecord, 'createdAt' | 'expiresAt'> & { createdAt: Date; expiresAt: Date }

const DAY_MS = 86_400_000

/** GET …/tokens: tokens of the organization and of all its projects. */
export function listTenantTokens(deps: Deps): Handler<'listTenantTokens'> {
  return async (call, res) => {
    const { tenant } = await inTenant(deps.prisma, call, res, 'tokens.manage')
    const { project, createdBy, ...query } = call.query()
    const filters = { ...(project !== undefined && { project }), ...(createdBy !== undefined && { createdBy }) }
    res.json(await pageOfTokens(deps, { tenant, ...filters }, query))
  }
}

/** GET …/projects/{p}/tokens */
export function listProjectTokens(deps: Deps): Handler<'listProjectTokens'> {
  return async (call, res) => {
    const scope = { tenant: call.id('tenant'), project: call.id('project') }
    await authorizeScope(deps.prisma, userOf(res), scope)
    res.json(await pageOfTokens(deps, scope, call.query()))
  }
}

/** POST …/tokens: the secret is shown once. */
export function createTenantToken(deps: Deps): Handler<'createTenantToken'> {
  return async (call, res) => {
    const scope = { tenant: call.id('tenant'), project: null }
    await authorizeScope(deps.prisma, userOf(res), scope)
    await makeToken(deps, call, res, scope)
  }
}

/** POST …/projects/{p}/tokens: the secret is shown once. */
export function createProjectToken(deps: Deps): Handler<'createProjectToken'> {
  return async (call, res) => {
    const scope = { tenant: call.id('tenant'), project: call.id('project') }
    await authorizeScope(deps.prisma, userOf(res), scope)
    await makeToken(deps, call, res, scope)
  }
}

/** DELETE …/tokens/{id}: of the organization or of one of its projects. */
export function deleteTenantToken(deps: Deps): Handler<'deleteTenantToken'> {
  return async (call, res) => {
    const { user: by, tenant } = await inTenant(deps.prisma, call, res, 'tokens.manage')
    await removeToken(deps, by, { tenant }, call.id('token'))
    res.status(204).end()
  }
}

/** DELETE …/projects/{p}/tokens/{id} */
export function deleteProjectToken(deps: Deps): Handler<'deleteProjectToken'> {
  return async (call, res) => {
    const scope = { tenant: call.id('tenant'), project: call.id('project') }
    const by = userOf(res)
    await authorizeScope(deps.prisma, by, scope)
    await removeToken(deps, by, scope, call.id('token'))
    res.status(204).end()
  }
}

/** T1. @throws Refusal `not_found`, `not_permitted` */
async function authorizeScope(prisma: Transaction, by: User, { tenant, project }: Scope): Promise<void> {
  if (project === null) await authorizeInTenant(prisma, by, tenant, 'tokens.manage')
  else await authorizeInProject(prisma, by, tenant, project, 'project-tokens.manage')
}

async function pageOfTokens(
  { prisma }: Deps,
  where: Prisma.AccessTokenWhereInput,
  query: { cursor?: string | undefined; limit: number },
) {
  const { cursor, limit } = query
  const rows = await prisma.accessToken.findMany({
    where: { ...where, id: idsAfter(cursor, `${ACCESS_TOKEN}_`) },
    orderBy: { id: 'desc' },
    take: limit + 1,
  })
  return pageOf(rows.map(tokenRecord), limit, ({ id }) => id)
}

type Creation = 'createTenantToken' | 'createProjectToken'
type CreationCall = Pick<Parameters<Handler<Creation>>[0], 'req' | 'sentBody' | 'body'>

async function makeToken(deps: Deps, call: CreationCall, res: Parameters<Handler<Creation>>[1], scope: Scope) {
  const by = userOf(res)
  const { name, permissions, expiresInDays } = await call.body()
  const { secret, hash, prefix } = issueSecret(ACCESS_TOKEN_PREFIX, deps)
  const createdAt = deps.now()
  const expiresAt = boundedExpiry(by.personal, new Date(createdAt.getTime() + expiresInDays * DAY_MS))
  const only = [...new Set(permissions)].toSorted()
  const made = { ...scope, name, hash, prefix, permissions: only, createdBy: by.id, createdAt, expiresAt }
  const inTurn = <T>(work: (tx: Transaction) => Promise<T>) => changePermissions(deps, scope.tenant, work)
  const make = async (tx: Transaction) => {
    await authorizeScope(tx, by, scope) // the user may have lost the role in the meantime
    const madeWith = await lockToken(tx, by.personal)
    if (scope.project !== null) await requireQuota(tx, deps.quotas, scope.project, 'tokens')
    const row = await tx.accessToken.create({ data: { id: deps.newId(ACCESS_TOKEN), ...made, madeWith } })
    const details = { name, prefix, project: scope.project, permissions: only, expiresInDays }
    const what = { action: 'access-token.create' as const, subject: row.id, details }
    await recordChange(tx, { tenant: scope.tenant, user: by.id, ...what })
    const token = tokenRecord(row)
    return { body: { token, secret }, repeated: { token, secret: null, resolution: MAKE_ANOTHER } }
  }
  await createOnce(deps, call, res, make, inTurn)
}

/** Deletes the tokens of a project or organization that is deleted. Returns their IDs, for its audit. */
export async function deleteTokens(tx: Transaction, of: { project: string } | { tenant: string }): Promise<string[]> {
  const tokens = await tx.accessToken.findMany({ where: of, select: { id: true } })
  await tx.accessToken.deleteMany({ where: of })
  return tokens.map(({ id }) => id)
}

type TokenPlace = { tenant: string; project?: string | null }

async function removeToken(deps: Deps, by: User, place: TokenPlace, id: string): Promise<void> {
  await deps.prisma.$transaction(async (tx) => {
    const token = await tx.accessToken.findFirst({ where: { ...place, id } })
    const { count } = await tx.accessToken.deleteMany({ where: { ...place, id } })
    if (token === null || count === 0) throw refuse('not_found', {})
    const what = { action: 'access-token.delete' as const, subject: id, details: { project: token.project } }
    await recordChange(tx, { tenant: place.tenant, user: by.id, ...what })
  })
}

function tokenRecord(row: TokenRow): AccessTokenRecord {
  const { id, name, prefix, project, permissions, createdBy, createdAt, expiresAt } = row
  const times = { createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() }
  return { id, name, prefix, project, permissions, createdBy, ...times }
}
