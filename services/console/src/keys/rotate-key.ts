import type { Request, RequestHandler } from 'express'
import type { Prisma } from '@gateway/database/client'
import { rotateBody } from '@gateway/contracts/console/keys'
import { KEY_SECRET_PREFIX } from '@gateway/contracts/key-secret'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedBody, pathIdOf } from '../receive/check.ts'
import { mayIssueKeys } from '../permissions/permissions.ts'
import type { PassBarrier } from '../permissions/pass-barrier.ts'
import { rolesInProject } from '../permissions/roles.ts'
import { visibleKeys } from '../permissions/visible-keys.ts'
import { authenticated, bearerOf } from '../sign-in/authenticate.ts'
import { issueSecret } from '../sign-in/secret.ts'
import type { Cookie } from '../sign-in/session-cookie.ts'
import { authenticatedKey } from './authenticated-key.ts'
import { databaseNow } from './database-now.ts'
import { keyRecords } from './key-record.ts'
import { keyState } from './key-state.ts'
import { lockKey } from './lock-key.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'mint' | 'random' | 'now'> & { passBarrier: PassBarrier; session: Cookie }

const DAY_MS = 86_400_000

/**
 * POST …/keys/{k}/rotate (spec 4.6; decisions.md, 5): a replacement with the same project, policy, allowlist, limit, expiry
 * span and meter. By a person who may manage the key, or by the key itself. Repeating it answers 409 with the replacement.
 */
export function rotateKey(deps: Deps): RequestHandler {
  const { prisma, mint, passBarrier } = deps
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    const { person, visible } = await whoRotates(deps, req, tenant)
    const id = pathIdOf(req, 'key')
    const { graceSeconds } = await checkedBody(req, rotateBody)
    const { secret, hash, prefix } = issueSecret(KEY_SECRET_PREFIX, deps)
    const newId = mint('key')
    const made = await prisma.$transaction(async (tx) => {
      const old = await lockKey(tx, id, visible)
      const now = await databaseNow(tx)
      const state = keyState(old, now)
      if (state !== 'Active' || old.project === null || old.expiryDays === null) {
        const facts = { state, rotatedTo: old.rotatedTo }
        return { project: old.project, refusal: refuse('key_not_active', facts, { details: facts }) }
      }
      await requireIssuer(tx, old.createdBy, { tenant, project: old.project, use: true })
      if (person !== null && person !== old.createdBy)
        await requireIssuer(tx, person, { tenant, project: old.project, use: false })
      const { name, project, lineage, policy, limitMicro, limitReset, createdBy, expiryDays } = old
      const expiresAt = new Date(now.getTime() + expiryDays * DAY_MS)
      const same = { name, tenant, project, lineage, policy, limitMicro, limitReset, createdBy, expiryDays }
      const row = await tx.key.create({
        data: { ...same, id: newId, hash, prefix, createdAt: now, expiresAt, rotatedFrom: id },
      })
      const listed = await tx.keyResource.findMany({ where: { key: id } })
      await tx.keyResource.createMany({ data: listed.map(({ resource }) => ({ key: newId, resource })) })
      const graceUntil = graceSeconds === 0 ? null : new Date(now.getTime() + graceSeconds * 1000)
      await tx.key.update({ where: { id }, data: { rotatedTo: newId, graceUntil } })
      const what = { action: 'key.rotate', subject: id, details: { rotatedTo: newId, graceSeconds } }
      await recordChange(tx, { tenant, person, ...what })
      const [record] = await keyRecords(tx, [row], now)
      return { project, record }
    })
    if (made.project !== null && (made.refusal || graceSeconds === 0)) await passBarrier([made.project])
    if (made.refusal) throw made.refusal
    res.status(201).json({ key: made.record, secret })
  }
}

/** A person with the right, or the key itself, which reaches no other. */
async function whoRotates(
  deps: Deps,
  req: Request,
  tenant: string,
): Promise<{ person: string | null; visible: Prisma.KeyWhereInput }> {
  const bearer = bearerOf(req)
  if (bearer?.startsWith(KEY_SECRET_PREFIX)) {
    const key = await authenticatedKey(deps, bearer)
    return { person: null, visible: { id: key.id, tenant } }
  }
  const person = await authenticated(deps, req)
  return { person: person.id, visible: await visibleKeys(deps, person, tenant) }
}

/**
 * A replacement is issued on its creator's authority, whoever asks for it; so that must still stand (spec 5.3). And its
 * secret goes to whoever asks: an Admin or owner without the three requirements could else take by rotating what issuing
 * is refused to them for.
 */
async function requireIssuer(
  tx: Transaction,
  id: string,
  { tenant, project, use }: { tenant: string; project: string; use: boolean },
): Promise<void> {
  const found = await rolesInProject({ prisma: tx }, { id, platformOperator: false }, tenant, project)
  if (!found || !mayIssueKeys(found.roles)) throw refuse('key_issuer_denied', { use })
}
