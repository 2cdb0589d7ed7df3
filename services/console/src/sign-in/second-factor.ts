import type { Prisma } from '@gateway/database/client'
import { Refusal, refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { SESSION_PREFIX } from '@gateway/api/ids'
import type { Handler } from '../request/call.ts'
import { deleteSecondFactor, endCredentials, lockUser } from './end-credentials.ts'
import { giveDevice, rememberDevice } from './known-devices.ts'
import { sessionCookie } from './open-session.ts'
import { hashOf, issueSecret } from './secret.ts'
import { tryPassword } from './password.ts'
import { base32, matchingStep, otpauthUri, SECRET_BYTES } from './totp.ts'
import { onlyUserOf, sessionOf } from './user.ts'
import type { Request } from 'express'
import { countFailedSignIn } from '../audit/failed-sign-ins.ts'

// The second factor of a user: an authenticator app (totp.ts) with recovery codes (decision 26).
//   F1  A code of the app is accepted once: a code of the last accepted step or before is not. The row of the factor is
//       locked while a code is checked, so of two concurrent requests with one code one succeeds.
//   F2  After five wrong codes in a row each further one makes the next wait, twice as long as before, up to an hour:
//       about thirty guesses a day, of a million. A recovery code never waits: it can't be guessed.
//   F3  A recovery code is accepted once, by deleting its digest.
//   F4  Setting up, replacing recovery codes and removing take a session, and the password or a code, so that a stolen
//       session changes nothing. A user without a password, who signs in at a provider, has to have just signed in.
//   F5  The secret is stored encrypted, recovery codes as digests. Each is shown once.
//   F6  The session that confirms a factor gets a new secret, so that a copy of its cookie does not get the factor too.

type Deps = Pick<ConsoleDeps, 'prisma' | 'random' | 'now' | 'secretBox' | 'throttle' | 'passwords' | 'publicUrl'>

const RECOVERY_CODES = 10
const RECOVERY_BYTES = 10
const FREE_FAILURES = 5
const FIRST_DELAY_MS = 30_000
const MAX_DELAY_MS = 3_600_000
const JUST_SIGNED_IN_MS = 600_000

/** GET /api/v2/me/second-factor */
export function readSecondFactor({ prisma }: Deps): Handler<'readSecondFactor'> {
  return async (_call, res) => {
    const { id: user } = onlyUserOf(res)
    const [factor, recoveryCodesLeft] = await Promise.all([
      prisma.secondFactor.findUnique({ where: { user } }),
      prisma.recoveryCode.count({ where: { user } }),
    ])
    res.json({ confirmedAt: factor?.confirmedAt?.toISOString() ?? null, recoveryCodesLeft })
  }
}

/** POST /api/v2/me/second-factor: a new secret, not in use until it is confirmed. */
export function setUpSecondFactor(deps: Deps): Handler<'setUpSecondFactor'> {
  const { prisma, random, secretBox, publicUrl } = deps
  return async (call, res) => {
    const { id: user, email, session } = sessionOf(res)
    const { password } = await call.body()
    await proveUser(deps, call.req, { id: user, session }, password)
    const secret = random(SECRET_BYTES)
    const fresh = { secret: secretBox.seal(secret, user), lastStep: 0n, failures: 0, retryAt: null }
    await prisma.$transaction(async (tx) => {
      const { count } = await tx.secondFactor.createMany({ data: [{ user, ...fresh }], skipDuplicates: true })
      const replaced =
        count > 0 || (await tx.secondFactor.updateMany({ where: { user, confirmedAt: null }, data: fresh })).count > 0
      if (!replaced) throw alreadySetUp()
    })
    const issuer = new URL(publicUrl ?? `http://${call.req.get('Host') ?? 'gateway'}`).hostname
    res.status(201).json({ secret: base32(secret), uri: otpauthUri(secret, { issuer, account: email }) })
  }
}

/** POST /api/v2/me/second-factor/confirm: from now on signing in takes a code. Sets a new session cookie (F6). */
export function confirmSecondFactor(deps: Deps): Handler<'confirmSecondFactor'> {
  const { now } = deps
  return async (call, res) => {
    const { id: user, session } = sessionOf(res)
    const { code } = await call.body()
    const { secret, hash } = issueSecret(SESSION_PREFIX, deps)
    const { codes, device, expiresAt } = await withCode(deps, { user, code, isConfirmed: false }, async (tx) => {
      await tx.secondFactor.update({ where: { user }, data: { confirmedAt: now() } })
      await endCredentials(tx, user, { session, allTokens: true }) // none of them had a second factor
      const device = await rememberDevice(deps, tx, call.req, user)
      const data = { secondFactor: true, hash } // F6
      const [renewed] = await tx.session.updateManyAndReturn({ where: { id: session }, data })
      if (renewed === undefined) throw refuse('session_missing', {}) // ended concurrently
      await recordChange(tx, { tenant: null, user, action: 'second-factor.set', subject: user })
      return { codes: await replaceRecoveryCodes(deps, tx, user), device, expiresAt: renewed.expiresAt }
    })
    sessionCookie(deps).set(call.req, res, secret, expiresAt.getTime() - now().getTime())
    giveDevice(deps, call.req, res, device)
    res.json({ recoveryCodes: codes })
  }
}

/** POST /api/v2/me/second-factor/recovery-codes */
export function createRecoveryCodes(deps: Deps): Handler<'createRecoveryCodes'> {
  return async (call, res) => {
    const { id: user } = sessionOf(res)
    const { code } = await call.body()
    const codes = await withCode(deps, { user, code, isConfirmed: true }, async (tx) => {
      await recordChange(tx, { tenant: null, user, action: 'recovery-codes.set', subject: user })
      return replaceRecoveryCodes(deps, tx, user)
    })
    res.json({ recoveryCodes: codes })
  }
}

/** POST /api/v2/me/second-factor/remove */
export function removeSecondFactor(deps: Deps): Handler<'removeSecondFactor'> {
  return async (call, res) => {
    const { id: user } = sessionOf(res)
    const { code } = await call.body()
    await withCode(deps, { user, code, isConfirmed: true }, async (tx) => {
      await deleteSecondFactor(tx, user)
      await recordChange(tx, { tenant: null, user, action: 'second-factor.remove', subject: user })
    })
    res.status(204).end()
  }
}

export type CodeOutcome = 'right' | Refusal

/** Checks a code of a user and uses it up (F1 to F3). A wrong one is counted when the transaction commits. */
export async function useCode(
  { now, secretBox }: Pick<Deps, 'now' | 'secretBox'>,
  tx: Transaction,
  { user, code, isConfirmed }: { user: string; code: string; isConfirmed: boolean },
): Promise<CodeOutcome> {
  await tx.$queryRaw`SELECT FROM control.second_factors WHERE user_id = ${user} FOR UPDATE` // F1
  const factor = await tx.secondFactor.findUnique({ where: { user } })
  if (factor === null) return wrongCode()
  if ((factor.confirmedAt !== null) !== isConfirmed) return isConfirmed ? wrongCode() : alreadySetUp()
  const typed = code.replaceAll(/[\s-]/g, '').toLowerCase()
  if (!/^\d{6}$/.test(typed)) return isConfirmed ? useRecoveryCode(tx, user, typed) : wrongCode()

  const nowMs = now().getTime()
  const waitMs = (factor.retryAt?.getTime() ?? 0) - nowMs
  if (waitMs > 0) return tooManyCodes(waitMs, isConfirmed)
  const secret = secretBox.open(factor.secret, user)
  const step = matchingStep(secret, typed, { nowMs, lastStep: Number(factor.lastStep) })
  if (step === null) {
    const failures = factor.failures + 1
    const data = { failures, retryAt: new Date(nowMs + delayAfterMs(failures)) }
    await tx.secondFactor.update({ where: { user }, data })
    const refused = {
      action: 'second-factor.refuse',
      subject: user,
      details: { failures },
      outcome: 'refused',
    } as const
    await recordChange(tx, { tenant: null, user, ...refused })
    return wrongCode()
  }
  await tx.secondFactor.update({ where: { user }, data: { lastStep: BigInt(step), failures: 0, retryAt: null } })
  return 'right'
}

/** How long the next code waits after this many wrong ones in a row (F2). */
export function delayAfterMs(failures: number): number {
  if (failures < FREE_FAILURES) return 0
  return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - FREE_FAILURES, 20))
}

function tooManyCodes(waitMs: number, isConfirmed: boolean): Refusal {
  const other = isConfirmed ? ', or use a recovery code' : '' // there is none before the app is confirmed
  return new Refusal(
    'rate_limited',
    'Too many wrong codes.',
    `Retry in ${Math.ceil(waitMs / 1_000)} seconds${other}.`,
    { retryAfterMs: waitMs },
  )
}

/** F3 */
async function useRecoveryCode(tx: Transaction, user: string, code: string): Promise<CodeOutcome> {
  const { count } = await tx.recoveryCode.deleteMany({ where: { user, hash: hashOf(code) } })
  if (count === 0) return wrongCode()
  const details = { left: await tx.recoveryCode.count({ where: { user } }) } satisfies Prisma.InputJsonObject
  await recordChange(tx, { tenant: null, user, action: 'recovery-codes.use', subject: user, details })
  return 'right'
}

/** Runs a change after a right code, in its transaction. @throws Refusal `second_factor_failed`, `rate_limited` */
async function withCode<T>(
  deps: Deps,
  asked: Parameters<typeof useCode>[2],
  change: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const done = await deps.prisma.$transaction(async (tx) => {
    await lockUser(tx, asked.user)
    const outcome = await useCode(deps, tx, asked)
    return outcome === 'right' ? { made: await change(tx) } : { outcome }
  })
  if ('outcome' in done) throw done.outcome // after the commit, which counts the wrong code
  return done.made
}

/** F5 */
async function replaceRecoveryCodes({ random }: Deps, tx: Transaction, user: string): Promise<string[]> {
  await tx.recoveryCode.deleteMany({ where: { user } })
  const codes = Array.from({ length: RECOVERY_CODES }, () => base32(random(RECOVERY_BYTES)).toLowerCase())
  await tx.recoveryCode.createMany({ data: codes.map((code) => ({ user, hash: hashOf(code) })) })
  return codes.map((code) => code.match(/.{4}/g)!.join('-'))
}

function wrongCode(): Refusal {
  return refuse('second_factor_failed', {})
}

function alreadySetUp(): Refusal {
  return refuse('already_exists', { what: 'A second factor (remove it first)' })
}

type ProofDeps = Pick<ConsoleDeps, 'prisma' | 'now' | 'throttle' | 'passwords'>

/**
 * Checks that a request comes from the user and not from a stolen session (F4): by the password, or for a user without
 * one by the age of the session.
 * @throws Refusal `sign_in_failed`, `rate_limited`, `session_required`
 */
async function proveUser(
  { prisma, now, throttle, passwords }: ProofDeps,
  req: Request,
  { id, session }: { id: string; session: string },
  password = '',
): Promise<void> {
  const { passwordHash } = await prisma.user.findUniqueOrThrow({ where: { id } })
  if (passwordHash === null) {
    const createdAt = { gt: new Date(now().getTime() - JUST_SIGNED_IN_MS) }
    if (await prisma.session.findUnique({ where: { id: session, createdAt } })) return
    throw new Refusal(
      'session_required',
      'You signed in more than ten minutes ago.',
      'Sign in again through single sign-on, then set it up.',
    )
  }
  const attempt = await throttle.attemptOf(id) // only failures of this user count, not those of strangers
  if (await tryPassword(passwords, attempt, { address: req.ip, user: id }, password, passwordHash)) return
  await countFailedSignIn({ prisma }, id)
  throw refuse('sign_in_failed', {})
}
