import * as oidc from 'openid-client'
import { label } from '@gateway/api/console/fields'
import { refuse } from '@gateway/api/refusal'
import type { ConsoleDeps } from '../../deps.ts'
import type { Handler } from '../../request/call.ts'
import { expectBrowser } from '../../page/console-page.ts'
import { type Identity, userBehind, refusalOfProvider, type SignInProvider } from './sign-in-provider.ts'
import { beginSession, giveResult } from '../complete-sign-in.ts'
import type { Transaction } from '../../audit/record-change.ts'
import { changePermissions, passBarrier } from '../../permissions/authorize.ts'
import { acceptCarried, carriedInvitation } from '../../users/accept-invitation.ts'
import { buildAuthorizationUrl, calculatePKCECodeChallenge } from 'openid-client'
import { pageAddress } from '@gateway/console-page/built-page'
import { isConsoleAddress } from '@gateway/api/console/console-address'
import { cookie, type Cookie } from '../cookie.ts'

type Deps = Pick<
  ConsoleDeps,
  'prisma' | 'newId' | 'random' | 'now' | 'log' | 'throttle' | 'sessionLimits' | 'ledger'
> & {
  publicUrl: string
  provider: SignInProvider
}

/**
 * GET /api/v2/session/oidc/callback: completes a sign-in with the provider's code, and redirects to where it started.
 */
export function oidcCallback(deps: Deps): Handler<'oidcCallback'> {
  const { prisma, provider, publicUrl, throttle, log } = deps
  const begun = begunCookie(publicUrl)
  return async ({ req }, res) => {
    expectBrowser(req, res)
    await throttle.attemptFrom(req.ip ?? '') // each attempt calls the provider
    const signIn = readBegun(begun.read(req))
    // Of two sign-ins in one browser the later one has the cookie, and the return of the earlier one must not end it.
    if (!signIn || req.query['state'] !== signIn.state)
      throw refuse('invalid_request', {
        reason:
          'This sign-in was not begun in this browser, was replaced by a later one, or is older than ten minutes.',
        resolution: 'Begin again from the console.',
      })
    const invitation = await carriedInvitation(deps, req, res)
    begun.clear(req, res)
    expectBrowser(req, res, signIn.returnTo)
    const search = /\?.*$/.exec(req.originalUrl)?.[0] ?? ''
    const configuration = provider.configuration()
    const { hasSecondFactor, ...identity } = await identityOf(
      configuration,
      new URL(provider.callbackUrl + search),
      signIn,
    ).catch((error) => {
      throw refusalOfProvider(error, log)
    })
    const signInAs = async (tx: Transaction) => {
      const from = { ...identity, issuer: provider.issuer }
      const invited = invitation && { id: deps.newId('usr'), email: invitation.email }
      const { isNew, projects, ...user } = await userBehind(tx, from, invited)
      if (invitation) await acceptCarried(deps, tx, invitation.secret, { ...user, isNew })
      const signedIn = { user: user.id, req, method: 'provider', secondFactor: hasSecondFactor } as const
      return { projects, result: await beginSession(deps, tx, signedIn, { by: 'provider', issuer: provider.issuer }) }
    }
    const { projects, result } = await (invitation
      ? changePermissions(deps, invitation.tenant, signInAs)
      : prisma.$transaction(signInAs))
    giveResult(deps, req, res, result)
    await passBarrier(deps, projects)
    res.redirect(303, signIn.returnTo)
  }
}

/**
 * Returns the identity the provider vouches for. The library checks state, nonce, PKCE, signature, audience and time.
 */
async function identityOf(
  configuration: oidc.Configuration,
  url: URL,
  { state, nonce, verifier }: BegunSignIn,
): Promise<Omit<Identity, 'issuer'> & { hasSecondFactor: boolean }> {
  const expected = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
  const tokens = await oidc.authorizationCodeGrant(configuration, url, expected)
  const { sub: subject, amr, ...claims } = tokens.claims()!
  const needsProfile = claims['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
  const profile = needsProfile ? await oidc.fetchUserInfo(configuration, tokens.access_token, subject) : claims
  const { email, email_verified: isVerified, name } = { ...claims, ...profile } as Record<string, unknown>
  return {
    subject,
    // RFC 8176: the provider asked for more than one factor. Its word is taken, because the operator trusts it with sign-ins.
    hasSecondFactor: Array.isArray(amr) && amr.includes('mfa'),
    name: typeof name === 'string' ? nameFrom(name) : null,
    verifiedEmail: typeof email === 'string' && isVerified === true ? email.trim().toLowerCase() : null,
  }
}

/** The name that a provider tells, if it is one that a user could choose here. */
function nameFrom(told: string): string | null {
  const read = label(100).safeParse(told)
  return read.success ? read.data : null
}

/** GET /api/v2/session/oidc: redirects to the provider (authorization code with PKCE) and stores the return address. */
export function oidcRedirect(
  deps: Pick<ConsoleDeps, 'random'> & { publicUrl: string; provider: SignInProvider },
): Handler<'oidcRedirect'> {
  const { provider, publicUrl } = deps
  const begun = begunCookie(publicUrl)
  return async (call, res) => {
    const { req } = call
    expectBrowser(req, res)
    const { returnTo = pageAddress } = call.query()
    expectBrowser(req, res, returnTo)
    const configuration = provider.configuration()
    const signIn = beginSignIn(deps, returnTo)
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: provider.callbackUrl,
      scope: 'openid email profile',
      state: signIn.state,
      nonce: signIn.nonce,
      code_challenge: await calculatePKCECodeChallenge(signIn.verifier),
      code_challenge_method: 'S256',
    })
    begun.set(req, res, written(signIn), MAX_MS)
    res.redirect(303, url.href)
  }
}

/** Cookie content during a sign-in: ties the provider's response to this browser, request and code. */
interface BegunSignIn {
  state: string
  nonce: string
  /** PKCE verifier: the code is useless without it. */
  verifier: string
  /** Console address at which the sign-in started. */
  returnTo: string
}

const MAX_MS = 600_000

/** `Lax`, because the browser returns from another site. */
const begunCookie = (publicUrl: string): Cookie => cookie('svc_sign_in', 'lax', publicUrl)

function beginSignIn({ random }: Pick<ConsoleDeps, 'random'>, returnTo: string): BegunSignIn {
  const secret = () => Buffer.from(random(32)).toString('base64url')
  return { state: secret(), nonce: secret(), verifier: secret(), returnTo }
}

function written({ state, nonce, verifier, returnTo }: BegunSignIn): string {
  return [state, nonce, verifier, Buffer.from(returnTo).toString('base64url')].join('.')
}

function readBegun(text: string | null): BegunSignIn | null {
  const [, state, nonce, verifier, address] = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.([\w-]+)$/.exec(text ?? '') ?? []
  if (!state || !nonce || !verifier || !address) return null
  const returnTo = Buffer.from(address, 'base64url').toString()
  // Over plain http another host under the same domain could have set the cookie.
  return { state, nonce, verifier, returnTo: isConsoleAddress(returnTo) ? returnTo : pageAddress }
}
