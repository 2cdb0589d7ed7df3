import type { Request, Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { refuse } from '@gateway/api/refusal'
import type { Transaction } from '../audit/record-change.ts'
import { meOf } from './me.ts'
import { cookie } from './cookie.ts'
import { giveSession, type Opened, openSession, requireEnabled, type SignedIn } from './open-session.ts'
import { useCode } from './second-factor.ts'
import { hashOf } from './secret.ts'
import { createHash } from 'node:crypto'
import { sessionOf } from './user.ts'
import { lockSession, makePersonalToken } from './tokens.ts'

// The second step of a sign-in.
//   K1  A sign-in by password or provider that lacks the code of the second factor gets a ticket instead of a session.
//       It is a cookie of this browser, good once, for ten minutes, and no request accepts it but the second step.
//   K2  A ticket ends with the sessions of its user (end-credentials.ts).
//   K3  Requests without a good ticket are limited per address. Codes are limited per user (F2 of second-factor.ts), so
//       neighbors at the same address don't delay a user who has a ticket.

type Deps = Pick<
  ConsoleDeps,
  'prisma' | 'newId' | 'random' | 'now' | 'throttle' | 'secretBox' | 'publicUrl' | 'traceUrl' | 'sessionLimits'
>

const LIFETIME_MS = 600_000

const ticketCookie = ({ publicUrl }: Pick<ConsoleDeps, 'publicUrl'>) => cookie('svc_second_factor', 'strict', publicUrl)

/** What a sign-in by password or provider leads to: a session, or a ticket for the second step (K1). */
export type SignInResult = Opened | { ticket: string; expiresAt: Date }

/**
 * Opens a session, or a ticket if the user has a second factor and the sign-in had none.
 * @throws Refusal `sign_in_failed` for a disabled user
 */
export async function beginSession(
  deps: Pick<Deps, 'newId' | 'random' | 'now' | 'publicUrl' | 'sessionLimits'>,
  tx: Transaction,
  signedIn: SignedIn & { user: string; req: Request },
  how: Parameters<typeof openSession>[3],
): Promise<SignInResult> {
  const { user, method, secondFactor } = signedIn
  await requireEnabled(tx, user) // first: what it locks, ending credentials waits for
  const factor = secondFactor ? null : await tx.secondFactor.findUnique({ where: { user } })
  if (factor === null || factor.confirmedAt === null) return openSession(deps, tx, signedIn, how)
  const ticket = Buffer.from(deps.random(32)).toString('base64url')
  const expiresAt = new Date(deps.now().getTime() + LIFETIME_MS)
  await tx.signInTicket.create({ data: { hash: hashOf(ticket), user, method, expiresAt } })
  return { ticket, expiresAt }
}

/** Sets the cookie of the session or ticket. */
export function giveResult(
  deps: Pick<Deps, 'publicUrl' | 'sessionLimits'>,
  req: Request,
  res: Response,
  result: SignInResult,
): void {
  if ('session' in result) giveSession(deps, req, res, result)
  else ticketCookie(deps).set(req, res, result.ticket, LIFETIME_MS)
}

/** Whether a browser has a ticket that is still good. */
async function hasTicket(deps: Pick<ConsoleDeps, 'prisma' | 'now' | 'publicUrl'>, req: Request): Promise<boolean> {
  const secret = ticketCookie(deps).read(req)
  return secret !== null && (await ticketOf(deps, deps.prisma, secret)) !== null
}

/** POST /api/v2/session/second-factor */
export function completeSignIn(deps: Deps): Handler<'completeSignIn'> {
  const { prisma, throttle } = deps
  const tickets = ticketCookie(deps)
  return async (call, res) => {
    if (!(await hasTicket(deps, call.req))) await throttle.attemptFrom(call.req.ip ?? '') // K3
    const { code } = await call.body()
    const secret = tickets.read(call.req)
    const done = await prisma.$transaction(async (tx) => {
      const ticket = secret === null ? null : await ticketOf(deps, tx, secret)
      if (ticket === null) return { outcome: refuse('second_factor_failed', {}) }
      const { user, hash } = ticket
      await requireEnabled(tx, user) // before what ending credentials deletes
      const outcome = await useCode(deps, tx, { user, code, isConfirmed: true })
      if (outcome !== 'right') return { outcome }
      const { count } = await tx.signInTicket.deleteMany({ where: { hash } }) // good once
      if (count === 0) return { outcome: refuse('second_factor_failed', {}) }
      const signedIn = { method: ticket.method as SignedIn['method'], secondFactor: true, user, req: call.req }
      return { user, opened: await openSession(deps, tx, signedIn, { by: ticket.method, secondFactor: true }) }
    })
    if ('outcome' in done) throw done.outcome // after the commit, which counts a wrong code
    const user = await prisma.user.findUniqueOrThrow({ where: { id: done.user } })
    tickets.clear(call.req, res)
    giveSession(deps, call.req, res, done.opened)
    res.status(201).json(await meOf(deps, { ...user, secondFactor: true }))
  }
}

function ticketOf({ now }: Pick<ConsoleDeps, 'now'>, prisma: Transaction, secret: string) {
  return prisma.signInTicket.findUnique({ where: { hash: hashOf(secret), expiresAt: { gt: now() } } })
}

// Lets a program on a user's machine get a personal token without copying one (decision 20).
//   C1  A code can be redeemed once, within five minutes, and only with the verifier of its challenge. So a code seen
//       in transit, in an address or on a screen, is useless.
//   C2  The transaction that redeems the code creates the token: no secret is stored in the meantime.
//   C3  Whenever the sessions of a user end, their codes end too (end-credentials.ts).
//   C4  A session confirms a code, never a token: a stolen token can't make successors.

type CodeDeps = Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'now' | 'throttle'>

const CODE_LIFETIME_MS = 300_000

/** POST /api/v2/me/sign-in-codes */
export function createSignInCode({ prisma, random, now }: CodeDeps): Handler<'createSignInCode'> {
  return async (call, res) => {
    const by = sessionOf(res) // C4
    const { id: user } = by
    const asked = await call.body()
    const code = Buffer.from(random(32)).toString('base64url')
    const expiresAt = new Date(now().getTime() + CODE_LIFETIME_MS)
    await prisma.$transaction(async (tx) => {
      const { secondFactor } = await lockSession(tx, by)
      await tx.signInCode.deleteMany({ where: { user, expiresAt: { lt: now() } } })
      await tx.signInCode.create({ data: { hash: hashOf(code), user, expiresAt, secondFactor, ...asked } })
    })
    res.status(201).json({ code, expiresAt: expiresAt.toISOString() })
  }
}

/** POST /api/v2/session/tokens: redeems a code for a token, whose secret is shown once. */
export function redeemSignInCode(deps: CodeDeps): Handler<'redeemSignInCode'> {
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

/** GET /api/v2/session: sign-in methods and base URL of the models, for the page before sign-in. */
export function readSignInMethods(
  deps: Pick<ConsoleDeps, 'prisma' | 'now' | 'publicUrl' | 'provider' | 'mails'>,
): Handler<'readSignInMethods'> {
  const { publicUrl, provider, mails } = deps
  return async ({ req }, res) => {
    res.json({
      baseUrl: publicUrl ?? null,
      provider: provider === undefined ? null : { path: '/api/v2/session/oidc', isReached: provider.isReached() },
      secondFactor: await hasTicket(deps, req),
      sendsMail: mails.areSent,
    })
  }
}
