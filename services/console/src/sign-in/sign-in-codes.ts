import { createHash } from 'node:crypto'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { sessionOf } from './user.ts'
import { hashOf } from './secret.ts'
import { lockSession, makePersonalToken } from './tokens.ts'

// Lets a program on a user's machine get a personal token without copying one (decision 20).
//   C1  A code can be redeemed once, within five minutes, and only with the verifier of its challenge. So a code seen
//       in transit, in an address or on a screen, is useless.
//   C2  The transaction that redeems the code creates the token: no secret is stored in the meantime.
//   C3  Whenever the sessions of a user end, their codes end too (end-credentials.ts).
//   C4  A session confirms a code, never a token: a stolen token can't make successors.

type Deps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'now' | 'throttle'>

const LIFETIME_MS = 300_000

/** POST /api/v2/me/sign-in-codes */
export function createSignInCode({ prisma, random, now }: Deps): Handler<'createSignInCode'> {
  return async (call, res) => {
    const { id: user, session } = sessionOf(res) // C4
    const asked = await call.body()
    const code = Buffer.from(random(32)).toString('base64url')
    const expiresAt = new Date(now().getTime() + LIFETIME_MS)
    await prisma.$transaction(async (tx) => {
      const { secondFactor } = await lockSession(tx, session)
      await tx.signInCode.deleteMany({ where: { user, expiresAt: { lt: now() } } })
      await tx.signInCode.create({ data: { hash: hashOf(code), user, expiresAt, secondFactor, ...asked } })
    })
    res.status(201).json({ code, expiresAt: expiresAt.toISOString() })
  }
}

/** POST /api/v2/session/tokens: redeems a code for a token, whose secret is shown once. */
export function redeemSignInCode(deps: Deps): Handler<'redeemSignInCode'> {
  const { prisma, now, throttle } = deps
  return async (call, res) => {
    await throttle.attemptFrom(call.req.ip ?? '')
    const { code, verifier } = await call.body()
    const hash = hashOf(code)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const made = await prisma.$transaction(async (tx) => {
      const found = await tx.signInCode.findUnique({ where: { hash, challenge, expiresAt: { gt: now() } } })
      const { count } = await tx.signInCode.deleteMany({ where: { hash, challenge } }) // C1: of two concurrent requests one succeeds
      if (found === null || count === 0) throw unknownCode()
      return makePersonalToken(deps, tx, found.user, found)
    })
    res.status(201).json(made)
  }
}

function unknownCode() {
  return refuse('invalid_request', {
    reason: 'This code belongs to another sign-in, was used before, or is older than five minutes.',
    resolution: 'Begin again in the program that asked for it, such as by gateway login.',
  })
}
