import type { Request } from 'express'
import { refuse } from '@gateway/api/refusal'
import { countFailedSignIn } from '../audit/failed-sign-ins.ts'
import type { ConsoleDeps } from '../deps.ts'
import { addressBlock } from '@gateway/service-kit/http/address-block'

type Deps = Pick<ConsoleDeps, 'prisma' | 'throttle' | 'passwords'>

/**
 * Checks the password of a signed-in user before a change that a stolen session must not make. A user without a
 * password, who signs in at a provider, needs none.
 * @throws Refusal `sign_in_failed`, `rate_limited`
 */
export async function provePassword(
  { prisma, throttle, passwords }: Deps,
  req: Request,
  { id }: { id: string },
  password = '',
): Promise<void> {
  const { passwordHash } = await prisma.user.findUniqueOrThrow({ where: { id } })
  if (passwordHash === null) return
  const attempt = await throttle.attemptOf(id) // only failures of this user count, not those of strangers
  if (!(await passwords.fits([attempt.rank, addressBlock(req.ip ?? ''), id], password, passwordHash))) {
    await countFailedSignIn({ prisma }, id)
    throw refuse('sign_in_failed', {})
  }
  await attempt.succeeded()
}
