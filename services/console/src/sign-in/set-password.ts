import { refuse } from '@gateway/api/refusal'
import { countFailedSignIn } from '../audit/failed-sign-ins.ts'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { passBarrier } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { endCredentials } from './end-credentials.ts'
import { giveDevice, rememberDevice } from './known-devices.ts'
import { addressBlock } from '@gateway/service-kit/http/connections'
import { tryPassword } from './password.ts'
import { onlyUserOf } from './user.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'random' | 'now' | 'publicUrl' | 'throttle' | 'passwords' | 'ledger'>

/**
 * PUT /api/v2/me/password: sets or changes the password. A change needs the current one, so a stolen token can't change
 * it. Everything by which the user is signed in ends, this session too; only this device stays known. Only the token that sets a first password remains:
 * the first operator begins with one. Users who sign in at a provider can't set a first password: it would outlive their
 * account there.
 */
export function setPassword(deps: Deps): Handler<'setPassword'> {
  const { prisma, throttle, passwords } = deps
  return async (call, res) => {
    const { id, personal } = onlyUserOf(res)
    const { password, current = '' } = await call.body()
    const attempt = await throttle.attemptOf(id) // only failures of this user count, not those of strangers
    const address = call.req.ip ?? ''
    const { passwordHash: before } = await prisma.user.findUniqueOrThrow({ where: { id } })
    if (before === null && (await prisma.userIdentity.findFirst({ where: { user: id } })))
      throw refuse('not_permitted', { need: 'an account that does not sign in through a sign-in provider' })
    if (before === null) await attempt.succeeded()
    else if (!(await tryPassword(passwords, attempt, { address, user: id }, current, before))) {
      await countFailedSignIn({ prisma }, id)
      throw refuse('sign_in_failed', {})
    }
    const passwordHash = await passwords.hash([attempt.rank, addressBlock(address), id], password)
    const { device, projects } = await prisma.$transaction(async (tx) => {
      const { count } = await tx.user.updateMany({ where: { id, passwordHash: before }, data: { passwordHash } })
      if (count === 0) throw refuse('sign_in_failed', {}) // another request has changed it in the meantime
      const projects = await endCredentials(tx, id, { token: before === null ? personal?.id : undefined })
      await recordChange(tx, { tenant: null, user: id, action: 'password.set', subject: id })
      return { device: await rememberDevice(deps, tx, call.req, id), projects }
    })
    giveDevice(deps, call.req, res, device)
    await passBarrier(deps, projects)
    res.status(204).end()
  }
}
