import type { Request, Response } from 'express'
import { Refusal, refuse } from '@gateway/api/refusal'
import type { TenantRole } from '@gateway/api/console/fields'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { changePermissions } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { meOf } from '../sign-in/me.ts'
import { cookie } from '../sign-in/cookie.ts'
import { giveSession, openSession } from '../sign-in/open-session.ts'
import { hashOf } from '../sign-in/secret.ts'
import { NEW_ADDRESS } from '../sign-in/throttle/decide-wait.ts'
import { addressBlock } from '@gateway/service-kit/http/connections'
import { onlyUserOf, type User } from '../sign-in/user.ts'

// Accepting an invitation (decision 5).
//   A1  The secret of the link is needed each time, and accepting uses it up.
//   A2  A user who exists accepts signed in, with the email of the invitation: the link alone gives no access to their
//       account, and the password alone gives no membership.
//   A3  A link that an Admin handed over proves no email: the new user is marked (`vouchedBy`), and the first proof of
//       the email, by single sign-on or a mailed reset, ends what came before.

type Deps = Pick<
  ConsoleDeps,
  | 'prisma'
  | 'newId'
  | 'random'
  | 'now'
  | 'throttle'
  | 'passwords'
  | 'publicUrl'
  | 'traceUrl'
  | 'provider'
  | 'sessionLimits'
>

interface Open {
  id: string
  tenant: string
  email: string
  role: string
  byMail: boolean
  invitedBy: string
  expiresAt: Date
}

/** POST /api/v2/invitations/read */
export function readInvitation(deps: Deps): Handler<'readInvitation'> {
  return async (call, res) => {
    await deps.throttle.attemptFrom(call.req.ip ?? '')
    const { secret } = await call.body()
    const { tenant, email, role, expiresAt } = await openInvitation(deps, secret)
    const { name } = await deps.prisma.tenant.findUniqueOrThrow({ where: { id: tenant } })
    res.json({ organization: name, email, role: role as TenantRole, expiresAt: expiresAt.toISOString() })
  }
}

/** POST /api/v2/invitations/accept: a new user sets a name and a password, and is signed in. */
export function acceptInvitation(deps: Deps): Handler<'acceptInvitation'> {
  const { throttle, passwords, newId } = deps
  return async (call, res) => {
    const address = call.req.ip ?? ''
    await throttle.attemptFrom(address)
    const { secret, name, password } = await call.body()
    const { tenant, email } = await openInvitation(deps, secret) // before the work of a hash
    const passwordHash = await passwords.hash([NEW_ADDRESS, addressBlock(address), email], password)
    const made = await changePermissions(deps, tenant, async (tx) => {
      const invitation = await use(deps, tx, secret)
      const vouchedBy = invitation.byMail ? null : tenant // A3
      const fresh = { id: newId('usr'), email, name, passwordHash, vouchedBy }
      const { count } = await tx.user.createMany({ data: [fresh], skipDuplicates: true })
      if (count === 0)
        throw new Refusal(
          'already_exists',
          'An account with this email exists already.',
          'Sign in with it, and accept the invitation then.',
        ) // A2; the transaction takes back the use of the link
      await join(tx, invitation, fresh.id, { newUser: true, by: 'password' })
      const signedIn = { user: fresh.id, req: call.req, method: 'password', secondFactor: false } as const
      const opened = await openSession(deps, tx, signedIn, { by: 'invitation' })
      return { user: { ...fresh, platformOperator: false, secondFactor: false }, opened }
    })
    giveSession(deps, call.req, res, made.opened)
    res.status(201).json(await meOf(deps, made.user))
  }
}

/** POST /api/v2/me/invitations: the user with the email of the invitation becomes a member. */
export function joinOrganization(deps: Deps): Handler<'joinOrganization'> {
  return async (call, res) => {
    const user = onlyUserOf(res)
    const { secret } = await call.body()
    const { tenant } = await openInvitation(deps, secret)
    await changePermissions(deps, tenant, async (tx) => {
      const invitation = await use(deps, tx, secret)
      requireEmail(user, invitation.email)
      await join(tx, invitation, user.id, { by: 'session' })
    })
    res.status(201).json(await meOf(deps, user))
  }
}

/** POST /api/v2/invitations/sign-in: keeps the secret in a cookie until the provider sends the browser back. */
export function signInWithInvitation(deps: Deps): Handler<'signInWithInvitation'> {
  const { publicUrl, provider, throttle } = deps
  return async (call, res) => {
    if (provider === undefined) throw refuse('not_found', {})
    await throttle.attemptFrom(call.req.ip ?? '')
    const { secret } = await call.body()
    await openInvitation(deps, secret)
    invitationCookie({ publicUrl }).set(call.req, res, secret, COOKIE_MS)
    res.status(204).end()
  }
}

/** `Lax`, because the browser returns from the provider's site. */
const invitationCookie = ({ publicUrl }: Pick<Deps, 'publicUrl'>) => cookie('svc_invitation', 'lax', publicUrl)
const COOKIE_MS = 600_000

/** The open invitation that this browser carried to the provider, which ends with this request; or null. */
export async function carriedInvitation(
  deps: Pick<Deps, 'prisma' | 'now' | 'publicUrl'>,
  req: Request,
  res: Response,
): Promise<(Open & { secret: string }) | null> {
  const cookie = invitationCookie(deps)
  const secret = cookie.read(req)
  if (secret === null) return null
  cookie.clear(req, res)
  const found = await find(deps.prisma, deps.now(), secret)
  return found && { ...found, secret }
}

/**
 * Accepts a carried invitation for a user who has signed in at the provider.
 * @throws Refusal `not_permitted`, `invalid_request`
 */
export async function acceptCarried(
  deps: Pick<Deps, 'now'>,
  tx: Transaction,
  secret: string,
  user: Pick<User, 'id' | 'email'> & { isNew: boolean },
): Promise<void> {
  const invitation = await use(deps, tx, secret)
  requireEmail(user, invitation.email)
  await join(tx, invitation, user.id, { by: 'provider', ...(user.isNew && { newUser: true }) })
}

/** @throws Refusal `invalid_request` */
async function openInvitation({ prisma, now }: Pick<Deps, 'prisma' | 'now'>, secret: string): Promise<Open> {
  const found = await find(prisma, now(), secret)
  if (!found) throw linkEnded()
  return found
}

function find(prisma: Transaction, now: Date, secret: string): Promise<Open | null> {
  return prisma.invitation.findUnique({ where: { hash: hashOf(secret), expiresAt: { gt: now } } })
}

/** Uses up the link: of two requests one succeeds (A1). @throws Refusal `invalid_request` */
async function use({ now }: Pick<Deps, 'now'>, tx: Transaction, secret: string): Promise<Open> {
  const found = await find(tx, now(), secret)
  const { count } = await tx.invitation.deleteMany({ where: { hash: hashOf(secret), id: found?.id ?? '' } })
  if (!found || count === 0) throw linkEnded()
  const isDisabled = { id: found.invitedBy, disabledAt: { not: null } }
  if ((await tx.user.count({ where: isDisabled })) > 0) throw linkEnded() // of a disabled Admin
  return found
}

/** A2. @throws Refusal `not_permitted` */
function requireEmail({ email }: Pick<User, 'email'>, invited: string): void {
  if (email === invited) return
  throw new Refusal(
    'not_permitted',
    `This invitation is for ${invited}, and your account has the email ${email}.`,
    `Sign out, then open the link again and sign in as ${invited}.`,
  )
}

/** A user who is a member already keeps their role. */
async function join(
  tx: Transaction,
  { id, tenant, role }: Open,
  user: string,
  details: { by: string; newUser?: true },
): Promise<void> {
  await tx.membership.createMany({ data: [{ tenant, user, role }], skipDuplicates: true })
  const what = { action: 'invitation.accept' as const, subject: user, details: { role, invitation: id, ...details } }
  await recordChange(tx, { tenant, user, ...what })
}

function linkEnded(): Refusal {
  return refuse('invalid_request', {
    reason: 'This link was used, replaced or revoked, or is older than 72 hours.',
    resolution: 'Ask an Admin of the organization to send the invitation again.',
  })
}
