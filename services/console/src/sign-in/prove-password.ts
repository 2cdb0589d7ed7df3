import type { Request } from 'express'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'throttle' | 'passwords'>

/**
 * Checks the password of a signed-in user before a change that a stolen session must not make. A user without a
 * password, who signs in at a provider, needs none.
 * @throws Refusal `sign_in_failed`, `rate_limited`
 */
export async function provePassword(
  { prisma, throttle, passwords }: Deps,
  req: Request,
  { id, email }: { id: string; email: string },
  password = '',
): Promise<void> {
  await throttle.attempt(email, req.ip ?? '')
  const { passwordHash } = await prisma.user.findUniqueOrThrow({ where: { id } })
  if (passwordHash !== null && !(await passwords.fits(password, passwordHash))) throw refuse('sign_in_failed', {})
  await throttle.succeeded(email, req.ip ?? '')
}
