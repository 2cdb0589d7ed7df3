import type { RequestHandler } from 'express'
import { passwordBody } from '@gateway/contracts/console'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleNeeds } from '../needs.ts'
import { checkedBody } from '../receive/check.ts'
import { hashPassword, passwordFits } from './password.ts'
import { personOf } from './person.ts'
import type { Throttle } from './throttle.ts'

type Needs = Pick<ConsoleNeeds, 'prisma' | 'random'> & { throttle: Throttle }

/**
 * PUT /api/v2/me/password: my first password, or another one; whoever has only found a token of mine can't change it.
 * All sessions end, personal tokens stay.
 */
export function setPassword({ prisma, random, throttle }: Needs): RequestHandler {
  return async (req, res) => {
    const { id, email } = personOf(res)
    const { password, current = '' } = await checkedBody(req, passwordBody)
    await throttle.attempt(email, req.ip ?? '')
    const { passwordHash: before } = await prisma.person.findUniqueOrThrow({ where: { id } })
    if (before !== null && !(await passwordFits(current, before))) throw refuse('sign_in_failed', {})
    await throttle.succeeded(email, req.ip ?? '')
    const passwordHash = await hashPassword(password, random(16))
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.person.updateMany({ where: { id, passwordHash: before }, data: { passwordHash } })
      if (count === 0) throw refuse('sign_in_failed', {}) // another request has changed it meanwhile
      await tx.personToken.deleteMany({ where: { person: id, id: { startsWith: 'ses' } } })
      await recordChange(tx, { tenant: null, person: id, action: 'password.set', subject: id })
    })
    res.status(204).end()
  }
}
