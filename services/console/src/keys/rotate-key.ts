import type { Request } from 'express'
import type { Prisma } from '@gateway/database/client'
import { consoleRoutes } from '@gateway/api/console-routes'
import { KEY_SECRET_PREFIX, isWellFormedSecret } from '@gateway/api/ids'
import { keyLimits } from '@gateway/api/limits'
import { rateLimits } from '@gateway/api/rates'
import { refuse } from '@gateway/api/refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { mayIssueKeys } from '../permissions/permissions.ts'
import { rolesInProject } from '../permissions/roles.ts'
import { visibleKeys } from '../permissions/visible-projects.ts'
import { addNotice } from '../notices/mail-notices.ts'
import { authenticated, bearerOf } from '../sign-in/authenticate.ts'
import { boundedExpiry, requireScopes } from '../sign-in/scopes.ts'
import { issueSecret, hashOf } from '../sign-in/secret.ts'
import { canBeRevoked, databaseNow, keyRecord, keyState } from './key-record.ts'
import { passBarrier } from '../permissions/authorize.ts'
import { holdToken, lockToken } from '../sign-in/tokens.ts'
import { type PersonalToken, userOf } from '../sign-in/user.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'now' | 'ledger' | 'publicUrl' | 'sessionLimits'>

const DAY_MS = 86_400_000
/** As long as a user may let a key live. */
const LONGEST_CHAIN_MS = keyLimits.expiryDays.max * DAY_MS

/**
 * POST …/keys/{k}/rotate (rules §6.8): issues a replacement with the same project, policy, allowlist, limits, expiry
 * span and meter. For a user who may manage the key, or for the key itself. A repeated request gets 409 with the
 * replacement. Each rotation is a notice of the project.
 * @throws LedgerUnavailable for a rotation without grace; nothing has changed then
 */
export function rotateKey(deps: Deps): Handler<'rotateKey'> {
  const { prisma, newId } = deps
  return async (call, res) => {
    const tenant = call.id('tenant')
    const isHere = call.req.complete
    const early = await whoRotates(deps, call.req, tenant) // a stranger is refused before the body is read
    const id = call.id('key')
    const { graceSeconds } = await call.body()
    // Access may have been lost while the body arrived.
    const who = isHere ? early : await whoRotates(deps, call.req, tenant)
    const { user, personal, keysToken } = who
    if (graceSeconds === 0) {
      const { project, refusal } = await lockRotatable(prisma, id, who, tenant)
      // The secret is shown once, so nothing is changed unless the ledger answers.
      if (!refusal) await passBarrier(deps, [project])
    }
    const { secret, hash, prefix } = issueSecret(KEY_SECRET_PREFIX, deps)
    const replacement = newId('key')
    const made = await prisma.$transaction(async (tx) => {
      // Locked before the key, as where the token ends. If it has ended, so has the key, which lockKey then reads.
      if (keysToken !== null) await holdToken(tx, keysToken)
      const madeWith = keysToken ?? (await lockToken(tx, personal))
      const rotatable = await lockRotatable(tx, id, who, tenant)
      if (rotatable.refusal) return rotatable
      const { old, now, project, expiryDays } = rotatable
      const { name, lineage, policy, limitMicro, limitReset, createdBy, tag } = old
      const issuedAt = user === null ? old.issuedAt : now
      const end = replacementEnd(now, expiryDays, issuedAt)
      // A key that a token created ends with the token, and so does what it rotates itself to.
      const usualEndMs = old.createdAt.getTime() + expiryDays * DAY_MS
      const isCut = user === null && old.expiresAt!.getTime() < usualEndMs && old.expiresAt! < end
      const expiresAt = isCut ? old.expiresAt! : boundedExpiry(personal, end)
      const rotatedBy = user ?? id
      const rates = rateLimits.parse(old.rates)
      const same = { name, tenant, project, lineage, policy, limitMicro, limitReset, rates, tag, createdBy, expiryDays }
      const row = await tx.key.create({
        data: {
          ...same,
          id: replacement,
          hash,
          prefix,
          createdAt: now,
          expiresAt,
          issuedAt,
          rotatedFrom: id,
          rotatedBy,
          madeWith,
        },
      })
      const listed = await tx.keyResource.findMany({ where: { key: id } })
      await tx.keyResource.createMany({ data: listed.map(({ resource }) => ({ key: replacement, resource })) })
      const graceEndMs = Math.min(now.getTime() + graceSeconds * 1000, old.expiresAt!.getTime())
      const graceUntil = graceSeconds === 0 ? null : new Date(graceEndMs)
      await tx.key.update({ where: { id }, data: { rotatedTo: replacement, graceUntil } })
      const what = { action: 'key.rotate' as const, subject: id, details: { rotatedTo: replacement, graceSeconds } }
      await recordChange(tx, { tenant, user, ...what })
      const notice = { id: newId('ntc'), project, kind: 'key.rotated', key: id } as const
      await addNotice(tx, { ...notice, details: { by: rotatedBy, replacement } })
      return { project, refusal: null, record: await keyRecord(tx, row, now, user) }
    })
    if (made.project !== null && (made.refusal || graceSeconds === 0))
      await passBarrier(deps, [made.project]).catch((error) => {
        if (made.refusal || !(error instanceof LedgerUnavailable)) throw error
      })
    if (made.refusal) throw made.refusal
    res.status(201).json({ key: made.record, secret })
  }
}

/**
 * Locks a key that the caller may rotate. A key whose state does not allow it is returned with the refusal.
 * @throws Refusal `not_found`, `rotation_forbidden`, `key_issuer_denied`
 */
async function lockRotatable(tx: Transaction, id: string, { user, visible }: Rotating, tenant: string) {
  const old = await lockKey(tx, id, visible)
  const now = await databaseNow(tx)
  const state = keyState(old, now)
  const { project, expiryDays, createdBy } = old
  if (state !== 'Active' || project === null || expiryDays === null) {
    const facts = { state, rotatedTo: old.rotatedTo }
    return { project, refusal: refuse('key_not_active', facts, { details: facts }) }
  }
  if (user === null) await requireSelfRotation(tx, project)
  await requireIssuer(tx, createdBy, { tenant, project, use: true })
  if (user !== null && user !== createdBy) await requireIssuer(tx, user, { tenant, project, use: false })
  return { old, now, project, expiryDays, refusal: null }
}

/**
 * End of a replacement: after the span of its key, but never later than the longest span after a user last issued a
 * secret of the chain. So rotating itself never gives a leaked key more time than a user could have given it at once.
 */
function replacementEnd(now: Date, expiryDays: number, issuedAt: Date): Date {
  return new Date(Math.min(now.getTime() + expiryDays * DAY_MS, issuedAt.getTime() + LONGEST_CHAIN_MS))
}

/**
 * Checks that keys of a project may rotate themselves. The lock makes a concurrent change of the setting wait, so no
 * key rotates itself after the owner got the response.
 * @throws Refusal `rotation_forbidden`
 */
async function requireSelfRotation(tx: Transaction, project: string): Promise<void> {
  const rows = await tx.$queryRaw<{ allowed: boolean }[]>`
    SELECT key_self_rotation AS allowed FROM control.projects WHERE id = ${project} FOR KEY SHARE`
  if (!rows[0]?.allowed) throw refuse('rotation_forbidden', {})
}

interface Rotating {
  /** null: the key itself. */
  user: string | null
  personal?: PersonalToken | undefined
  /** The personal token that made the key which rotates itself. */
  keysToken: string | null
  visible: Prisma.KeyWhereInput
}

/** Authenticates a user, or the key itself, which can rotate no other key. */
async function whoRotates(deps: Deps, req: Request, tenant: string): Promise<Rotating> {
  const bearer = bearerOf(req)
  if (bearer?.startsWith(KEY_SECRET_PREFIX)) {
    const key = await authenticatedKey(deps, bearer)
    return { user: null, keysToken: key.madeWith, visible: { id: key.id, tenant } }
  }
  const user = await authenticated(deps, req)
  requireScopes(consoleRoutes.rotateKey, user)
  return { user: user.id, personal: user.personal, keysToken: null, visible: await visibleKeys(deps, user, tenant) }
}

/**
 * A replacement is issued on the authority of the key's creator, regardless of the caller, so the creator must still
 * meet the requirements (rules §6.5). The caller receives its secret, so they must meet them too: otherwise an Admin or
 * owner who may not issue keys could obtain one by rotating.
 */
export async function requireIssuer(
  tx: Transaction,
  id: string,
  { tenant, project, use }: { tenant: string; project: string; use: boolean },
): Promise<void> {
  const found = await rolesInProject(tx, { id, platformOperator: false }, tenant, project)
  if (!found || !mayIssueKeys(found.roles)) throw refuse('key_issuer_denied', { use })
}

/** POST …/keys/{k}/revoke: ends the key's use permanently. */
export function revokeKey(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'revokeKey'> {
  const { prisma } = deps
  return async (call, res) => {
    const user = userOf(res)
    const tenant = call.id('tenant')
    const visible = await visibleKeys({ prisma }, user, tenant)
    const id = call.id('key')
    const { key, refusal } = await prisma.$transaction(async (tx) => {
      const found = await lockKey(tx, id, visible)
      const now = await databaseNow(tx)
      if (!canBeRevoked(found)) {
        const facts = { state: keyState(found, now), rotatedTo: found.rotatedTo }
        return { key: found, refusal: refuse('key_not_active', facts, { details: facts }) }
      }
      const revoked = await tx.key.update({ where: { id }, data: { revokedAt: now } })
      await recordChange(tx, { tenant, user: user.id, action: 'key.revoke', subject: id })
      return { key: revoked, refusal: null }
    })
    if (key.project !== null) await passBarrier(deps, [key.project])
    if (refusal) throw refusal
    res.json(await keyRecord(prisma, key, await databaseNow(prisma), user.id))
  }
}

/**
 * Locks a key, so of two concurrent rotations or revocations the second sees the result of the first.
 * @throws Refusal `not_found` for a key the caller may not manage
 */
export async function lockKey(tx: Transaction, id: string, visible: Prisma.KeyWhereInput) {
  await tx.$queryRaw`SELECT FROM control.keys WHERE id = ${id} FOR UPDATE`
  const key = await tx.key.findFirst({ where: { AND: [visible, { id }] } })
  if (key) return key
  throw refuse('not_found', {})
}

/**
 * Returns the key of a secret, checked in the same order as on every path (rules §2.3).
 * @throws Refusal `key_invalid`, `key_revoked`, `key_expired`, `key_paused`, `key_unbound`
 */
async function authenticatedKey(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  secret: string,
): Promise<{ id: string; madeWith: string | null }> {
  if (!isWellFormedSecret(KEY_SECRET_PREFIX, secret)) throw refuse('key_invalid', {})
  const key = await prisma.key.findUnique({ where: { hash: hashOf(secret) } })
  if (!key) throw refuse('key_invalid', {})
  const now = await databaseNow(prisma)
  const { rotatedTo, graceUntil, expiresAt } = key
  if (key.revokedAt !== null || (rotatedTo !== null && (graceUntil === null || graceUntil <= now)))
    throw refuse('key_revoked', { rotatedTo })
  if (expiresAt !== null && expiresAt <= now) throw refuse('key_expired', { expiredAt: expiresAt.toISOString() })
  if (key.pausedAt !== null) throw refuse('key_paused', {})
  if (key.project === null) throw refuse('key_unbound', {})
  return key
}
