import type { InvitationRecord } from '@gateway/api/console/users'
import type { TenantRole } from '@gateway/api/console/fields'
import { Refusal, refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInTenant, changePermissions, inTenant } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { idsAfter, pageOf } from '../request/page.ts'
import { linkTo, makeLinkSecret } from '../sign-in/link-secret.ts'
import { boundedExpiry } from '../sign-in/scopes.ts'
import { lockToken } from '../sign-in/tokens.ts'
import type { User } from '../sign-in/user.ts'

// Invitations of an organization (decision 5). accept-invitation.ts is the other end.
//   N1  The answer to an Admin is the same whether the installation knows the email or not.
//   N2  The link works once, for 72 hours. Sending it again makes a new one, and the old one ends.
//   N3  If mail is configured, the link goes by mail only, so it proves the email. Otherwise the Admin gets it once.
//   N4  Invitations end with the Admin role of the user who made them: no one keeps a way back in. One that a personal
//       token made or sent again last ends with that token too (end-credentials.ts).

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'now' | 'publicUrl' | 'mails' | 'throttle'>

interface InvitationRow extends Omit<InvitationRecord, 'role' | 'delivery' | 'createdAt' | 'expiresAt'> {
  role: string
  byMail: boolean
  sentAt: Date | null
  createdAt: Date
  expiresAt: Date
}

const INVITATION = 'ivt'
const LIFETIME_MS = 72 * 3_600_000
const PER_TENANT = { points: 100, duration: 3_600 }
const PER_EMAIL = { points: 5, duration: 3_600 }
const SEND_AGAIN = 'The link was shown once. Send the invitation again to get another one.'

/** GET …/invitations */
export function listInvitations({ prisma }: Deps): Handler<'listInvitations'> {
  return async (call, res) => {
    const { tenant } = await inTenant(prisma, call, res, 'users.manage')
    const { cursor, limit } = call.query()
    const rows = await prisma.invitation.findMany({
      where: { tenant, id: idsAfter(cursor, `${INVITATION}_`) },
      orderBy: { id: 'desc' },
      take: limit + 1,
    })
    const mails = await prisma.mail.findMany({
      where: { kind: 'invitation', subject: { in: rows.map(({ id }) => id) } },
      select: { subject: true },
    })
    const queued = new Set(mails.map(({ subject }) => subject))
    const records = rows.map((row) => invitationRecord(row, queued.has(row.id)))
    res.json(pageOf(records, limit, ({ id }) => id))
  }
}

/** POST …/invitations */
export function createInvitation(deps: Deps): Handler<'createInvitation'> {
  const { prisma, newId, mails } = deps
  return async (call, res) => {
    const { user: by, tenant } = await inTenant(prisma, call, res, 'users.manage')
    const { email, role } = await call.body()
    await limitMails(deps, tenant, email)
    const inTurn = <T>(work: (tx: Transaction) => Promise<T>) => changePermissions(deps, tenant, work)
    const make = async (tx: Transaction) => {
      await authorizeInTenant(tx, by, tenant, 'users.manage') // the user may have lost the role in the meantime
      const madeWith = await lockToken(tx, by.personal)
      await requireNew(tx, tenant, email)
      const { data, link } = await newLink(deps, tx, newId(INVITATION), by)
      const row = await tx.invitation.create({ data: { ...data, tenant, email, role, invitedBy: by.id, madeWith } })
      const what = { action: 'invitation.create' as const, subject: row.id, details: { email, role } }
      await recordChange(tx, { tenant, user: by.id, ...what })
      const body = { invitation: invitationRecord(row), link }
      return link === null ? { body } : { body, repeated: { ...body, link: null, resolution: SEND_AGAIN } }
    }
    await createOnce(deps, call, res, make, inTurn)
    mails.soon()
  }
}

/** POST …/invitations/{i}/resend: a new link for another 72 hours, from the Admin who asks. */
export function resendInvitation(deps: Deps): Handler<'resendInvitation'> {
  const { prisma, mails } = deps
  return async (call, res) => {
    const { user: by, tenant } = await inTenant(prisma, call, res, 'users.manage')
    const id = call.id('invitation')
    const found = await prisma.invitation.findUnique({ where: { id, tenant } })
    if (!found) throw refuse('not_found', {})
    await limitMails(deps, tenant, found.email)
    const answer = await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant(tx, by, tenant, 'users.manage')
      const madeWith = await lockToken(tx, by.personal)
      const { data, link } = await newLink(deps, tx, id, by)
      const row = await tx.invitation.update({ where: { id, tenant }, data: { ...data, invitedBy: by.id, madeWith } })
      const what = { action: 'invitation.resend' as const, subject: id, details: { email: row.email, role: row.role } }
      await recordChange(tx, { tenant, user: by.id, ...what })
      return { invitation: invitationRecord(row), link }
    })
    res.json(answer)
    mails.soon()
  }
}

/** DELETE …/invitations/{i} */
export function revokeInvitation(deps: Deps): Handler<'revokeInvitation'> {
  return async (call, res) => {
    const { user: by, tenant } = await inTenant(deps.prisma, call, res, 'users.manage')
    const id = call.id('invitation')
    await changePermissions(deps, tenant, async (tx) => {
      await authorizeInTenant(tx, by, tenant, 'users.manage')
      const found = await tx.invitation.findUnique({ where: { id, tenant } })
      if (!found) throw refuse('not_found', {})
      await tx.invitation.deleteMany({ where: { id } })
      const what = { action: 'invitation.revoke' as const, subject: id, details: { email: found.email } }
      await recordChange(tx, { tenant, user: by.id, ...what })
    })
    res.status(204).end()
  }
}

/** Revokes the invitations of a user who is no longer an Admin (N4). */
export async function endInvitationsBy(
  tx: Transaction,
  tenant: string,
  { user, by }: { user: string; by: string },
): Promise<void> {
  const ended = await tx.invitation.findMany({ where: { tenant, invitedBy: user }, select: { id: true, email: true } })
  await tx.invitation.deleteMany({ where: { tenant, invitedBy: user } })
  for (const { id, email } of ended)
    await recordChange(tx, { tenant, user: by, action: 'invitation.revoke', subject: id, details: { email } })
}

/** Deletes invitations a month after they expire. Returns the number. */
export async function forgetInvitations({ prisma, now }: Pick<Deps, 'prisma' | 'now'>): Promise<number> {
  const before = new Date(now().getTime() - 30 * 86_400_000)
  const invitations = await prisma.invitation.deleteMany({ where: { expiresAt: { lt: before } } })
  const resets = await prisma.passwordReset.deleteMany({ where: { expiresAt: { lt: now() } } })
  return invitations.count + resets.count
}

/** What an Admin sees in their lists anyway (N1). @throws Refusal `already_exists` */
async function requireNew(tx: Transaction, tenant: string, email: string): Promise<void> {
  const user = await tx.user.findUnique({ where: { email }, select: { id: true } })
  const member = user && (await tx.membership.findUnique({ where: { tenant_user: { tenant, user: user.id } } }))
  if (member)
    throw new Refusal(
      'already_exists',
      'A member of the organization has this email.',
      'Change the role of the member instead.',
    )
  if (await tx.invitation.findUnique({ where: { tenant_email: { tenant, email } } }))
    throw new Refusal(
      'already_exists',
      'This email is invited already.',
      'Send the invitation again, or revoke it and invite the email with another role.',
    )
}

/** Bounds the mails that an organization can have sent to strangers. @throws Refusal `rate_limited` */
async function limitMails({ throttle }: Deps, tenant: string, email: string): Promise<void> {
  await throttle.mail(`tenant ${tenant}`, PER_TENANT)
  await throttle.mail(`tenant ${tenant} ${email}`, PER_EMAIL)
}

/** The columns of a new link, and the link if it is for the Admin (N2, N3). */
async function newLink(deps: Deps, tx: Transaction, id: string, { personal }: User) {
  const { now, mails } = deps
  const createdAt = now()
  const expiresAt = boundedExpiry(personal, new Date(createdAt.getTime() + LIFETIME_MS))
  const data = { id, createdAt, expiresAt, byMail: mails.areSent, sentAt: null }
  if (mails.areSent) {
    await mails.enqueue(tx, 'invitation', id)
    return { data: { ...data, hash: null }, link: null }
  }
  const { secret, hash } = makeLinkSecret(deps)
  return { data: { ...data, hash }, link: linkTo(deps, 'invitation', secret) }
}

function invitationRecord(
  { id, email, role, invitedBy, byMail, sentAt, ...times }: InvitationRow,
  isQueued = true,
): InvitationRecord {
  const unsent = isQueued ? 'pending' : 'failed'
  const delivery = byMail ? (sentAt === null ? unsent : 'sent') : 'link'
  const [createdAt, expiresAt] = [times.createdAt.toISOString(), times.expiresAt.toISOString()]
  return { id, email, role: role as TenantRole, invitedBy, delivery, createdAt, expiresAt }
}
