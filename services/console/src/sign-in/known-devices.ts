import type { Request, Response } from 'express'
import type { Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { cookie } from './cookie.ts'
import { hashOf } from './secret.ts'

// Devices on which a user has signed in, so that failures elsewhere don't delay them there (throttle/decide-wait.ts).
//   D1  The cookie holds a random secret, of which only the hash is stored. It opens nothing: the password is still
//       needed.
//   D2  A device gets a new secret unless it sends one that is known, so no one can plant a secret that they know.
//   D3  A user has at most 10; the one used longest ago is forgotten. A password reset forgets all of them.

type Deps = Pick<ConsoleDeps, 'random' | 'now' | 'publicUrl'>

const LIFETIME_MS = 180 * 86_400_000
const MAX_OF_USER = 10
const SECRET = /^[\w-]{43}$/

const deviceCookie = (publicUrl: string | undefined) => cookie('svc_device', 'strict', publicUrl)

/** What identifies the device to the throttle, if the user of this email has signed in on it; else null. */
export async function knownDevice(
  { prisma, publicUrl, now }: Pick<ConsoleDeps, 'prisma' | 'publicUrl' | 'now'>,
  req: Request,
  user: string | undefined,
): Promise<string | null> {
  const secret = secretOfDevice(publicUrl, req)
  if (secret === null) return null
  const hash = hashOf(secret)
  const since = new Date(now().getTime() - LIFETIME_MS)
  // Also for an unknown user, so that the time of the answer doesn't tell whether there is one.
  const device = { hash_user: { hash, user: user ?? '' }, lastUsedAt: { gt: since } }
  const known = await prisma.knownDevice.findUnique({ where: device })
  return known && `${known.user} ${Buffer.from(hash).toString('base64url')}`
}

/** Remembers the device of a sign-in. @returns the secret for its cookie (D2) */
export async function rememberDevice(deps: Deps, tx: Transaction, req: Request, user: string): Promise<string> {
  const sent = secretOfDevice(deps.publicUrl, req)
  const isKnown = sent !== null && (await tx.knownDevice.findFirst({ where: { hash: hashOf(sent) } })) !== null
  const secret = isKnown ? sent : Buffer.from(deps.random(32)).toString('base64url')
  const [hash, lastUsedAt] = [hashOf(secret), deps.now()]
  const device = { hash, user, lastUsedAt }
  await tx.knownDevice.upsert({ where: { hash_user: { hash, user } }, create: device, update: { lastUsedAt } })
  const others = await tx.knownDevice.findMany({
    where: { user },
    orderBy: { lastUsedAt: 'desc' },
    skip: MAX_OF_USER,
    select: { hash: true },
  })
  if (others.length > 0)
    await tx.knownDevice.deleteMany({ where: { user, hash: { in: others.map((each) => each.hash) } } })
  return secret
}

/** Sets the cookie of the device. */
export function giveDevice({ publicUrl }: Pick<Deps, 'publicUrl'>, req: Request, res: Response, secret: string): void {
  deviceCookie(publicUrl).set(req, res, secret, LIFETIME_MS)
}

function secretOfDevice(publicUrl: string | undefined, req: Request): string | null {
  const sent = deviceCookie(publicUrl).read(req)
  return sent !== null && SECRET.test(sent) ? sent : null
}
