import { Refusal, refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeOnPlatform, passBarrier } from '../permissions/authorize.ts'
import { changeOperators } from '../users/operators.ts'
import type { Handler } from '../request/call.ts'
import { deleteSecondFactor, endCredentials, lockUser } from './end-credentials.ts'
import { giveDevice, rememberDevice } from './known-devices.ts'
import { linkTo, makeLinkSecret } from './link-secret.ts'
import { hashOf } from './secret.ts'
import { NEW_ADDRESS } from './throttle/decide-wait.ts'
import { addressBlock } from '@gateway/service-kit/http/connections'
import { onlyUserOf } from './user.ts'

// Resetting a forgotten password by a link (decision 5).
//   R1  The answer to a request for a mail is the same for every email, and takes the same work: the mail queue finds
//       out whether there is a user.
//   R2  Without mail only the platform operator makes a link. An Admin who could make one would become the user, with
//       grants and organizations that the Admin does not have.
//   R3  The link works once, for an hour, and signs no one in: a second factor stays needed.
//   R4  A reset ends every session, code, personal token and known device of the user, and what the tokens made.
//   R5  Users who sign in at a provider get no password: it would outlive their account there.
//   R6  The first mailed reset of a user who was created through a link that an Admin handed over ends a second factor
//       too: the Admin may have used that link and set it up.

type Deps = Pick<
  ConsoleDeps,
  'prisma' | 'newId' | 'random' | 'now' | 'throttle' | 'passwords' | 'publicUrl' | 'mails' | 'ledger'
>

const LIFETIME_MS = 3_600_000
const PER_EMAIL = { points: 3, duration: 3_600 }

/** POST /api/v2/session/reset */
export function requestReset({ prisma, throttle, mails }: Deps): Handler<'requestReset'> {
  return async (call, res) => {
    await throttle.attemptFrom(call.req.ip ?? '')
    const { email } = await call.body()
    if (!mails.areSent)
      throw refuse('invalid_request', {
        reason: 'This service sends no mail.',
        resolution: 'Ask the platform operator for a link to reset your password.',
      })
    // A request too many is answered like the others, and sends nothing.
    const isAllowed = await throttle.mail(`reset ${email}`, PER_EMAIL).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Refusal) return false
        throw error
      },
    )
    if (isAllowed) await mails.enqueue(prisma, 'reset', email) // R1
    res.status(202).end()
    mails.soon()
  }
}

/** POST /api/v2/password-resets: a link from the platform operator, to be handed over (R2). */
export function createResetLink(deps: Deps): Handler<'createResetLink'> {
  const { prisma } = deps
  return async (call, res) => {
    const by = onlyUserOf(res)
    authorizeOnPlatform(by, 'passwords.reset')
    const { email } = await call.body()
    const user = await prisma.user.findUnique({ where: { email } })
    if (!user) throw refuse('not_found', {})
    if (await hasOnlyProvider(prisma, user))
      throw refuse('invalid_request', {
        reason: 'This user signs in through single sign-on and has no password here.',
        resolution: 'Ask the user to sign in through single sign-on.',
      })
    const made = await changeOperators(deps, by.id, async (tx) => {
      const what = { action: 'password.reset-link' as const, subject: user.id }
      await recordChange(tx, { tenant: null, user: by.id, ...what })
      await tx.mail.deleteMany({ where: { kind: 'reset', subject: email } }) // its next try would replace this link
      return makeReset(deps, tx, user.id, { byMail: false })
    })
    const link = linkTo(deps, 'reset', made.secret)
    res.status(201).json({ link, expiresAt: made.expiresAt.toISOString() })
  }
}

/** POST /api/v2/session/reset/complete */
export function completeReset(deps: Deps): Handler<'completeReset'> {
  const { prisma, throttle, passwords, now } = deps
  return async (call, res) => {
    const address = call.req.ip ?? ''
    await throttle.attemptFrom(address)
    const { secret, password } = await call.body()
    const hash = hashOf(secret)
    const open = { hash, expiresAt: { gt: now() } }
    const found = await prisma.passwordReset.findUnique({ where: open })
    if (!found) throw linkEnded() // before the work of a hash
    const { user } = found
    const passwordHash = await passwords.hash([NEW_ADDRESS, addressBlock(address), user], password)
    const { device, projects } = await prisma.$transaction(async (tx) => {
      await lockUser(tx, user) // before its link, which ending credentials deletes
      const { count } = await tx.passwordReset.deleteMany({ where: open }) // R3: of two requests one succeeds
      if (count === 0) throw linkEnded()
      const before = await tx.user.findUniqueOrThrow({ where: { id: user } })
      if (await hasOnlyProvider(tx, before)) throw linkEnded() // R5
      const isProof = found.byMail && before.vouchedBy !== null
      if (isProof) await deleteSecondFactor(tx, user) // R6
      await tx.user.update({ where: { id: user }, data: { passwordHash, ...(isProof && { vouchedBy: null }) } })
      const projects = await endCredentials(tx, user)
      const details = { by: found.byMail ? 'mail' : 'operator' }
      await recordChange(tx, { tenant: null, user, action: 'password.reset', subject: user, details })
      // so that strangers' failures don't delay the sign-in that follows
      return { device: await rememberDevice(deps, tx, call.req, user), projects }
    })
    giveDevice(deps, call.req, res, device)
    await passBarrier(deps, projects)
    res.status(204).end()
  }
}

/** Makes a link for a user, in place of one before. */
export async function makeReset(
  deps: Pick<Deps, 'random' | 'now'>,
  tx: Transaction,
  user: string,
  { byMail }: { byMail: boolean },
): Promise<{ secret: string; expiresAt: Date }> {
  const { secret, hash } = makeLinkSecret(deps)
  const expiresAt = new Date(deps.now().getTime() + LIFETIME_MS)
  const link = { hash, byMail, expiresAt }
  await tx.passwordReset.upsert({ where: { user }, create: { user, ...link }, update: link })
  return { secret, expiresAt }
}

/** Whether a user has no password because they sign in at a provider (R5). */
export async function hasOnlyProvider(
  tx: Transaction,
  { id, passwordHash }: { id: string; passwordHash: string | null },
): Promise<boolean> {
  return passwordHash === null && (await tx.userIdentity.findFirst({ where: { user: id } })) !== null
}

function linkEnded(): Refusal {
  return refuse('invalid_request', {
    reason: 'This link was used or replaced, or is older than an hour.',
    resolution: 'Ask for another link.',
  })
}
