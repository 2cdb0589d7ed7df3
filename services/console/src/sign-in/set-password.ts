import { refuse } from '@gateway/api/refusal'
import { countFailedSignIn } from '../audit/failed-sign-ins.ts'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { endCredentials } from './end-credentials.ts'
import { onlyUserOf } from './user.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'throttle' | 'passwords'>

/**
 * PUT /api/v2/me/password: sets or changes the password. A change needs the current one, so a stolen token can't change
 * it. Everything by which the user is signed in ends, this session too. Only the token that sets a first password remains:
 * the first operator begins with one. Users who sign in at a provider can't set a first password: it would outlive their
 * account there.
 */
export function setPassword({ prisma, throttle, passwords }: Deps): Handler<'setPassword'> {
  return async (call, res) => {
    const { id, email, personal } = onlyUserOf(res)
    const { password, current = '' } = await call.body()
    await throttle.attempt(email, call.req.ip ?? '')
    const { passwordHash: before } = await prisma.user.findUniqueOrThrow({ where: { id } })
    if (before === null && (await prisma.userIdentity.findFirst({ where: { user: id } })))
      throw refuse('not_permitted', { need: 'an account that does not sign in through a sign-in provider' })
    if (before !== null && !(await passwords.fits(current, before))) {
      await countFailedSignIn({ prisma }, id)
      throw refuse('sign_in_failed', {})
    }
    await throttle.succeeded(email, call.req.ip ?? '')
    const passwordHash = await passwords.hash(password)
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.user.updateMany({ where: { id, passwordHash: before }, data: { passwordHash } })
      if (count === 0) throw refuse('sign_in_failed', {}) // another request has changed it in the meantime
      await endCredentials(tx, id, { token: before === null ? personal?.id : undefined })
      await recordChange(tx, { tenant: null, user: id, action: 'password.set', subject: id })
    })
    res.status(204).end()
  }
}
