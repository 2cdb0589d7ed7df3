import * as oidc from 'openid-client'
import { setTimeout as wait } from 'node:timers/promises'
import { backOffMs } from '@gateway/service-kit/async/waiting'
import { Refusal, refuse } from '@gateway/api/refusal'
import type { Logger } from '@gateway/service-kit/process/logger'
import { recordChange, type Transaction } from '../../audit/record-change.ts'
import { deleteSecondFactor, endCredentials } from '../end-credentials.ts'

/** OpenID Connect provider, if the operator has configured one. */
export interface SignInProvider {
  issuer: string
  /** Address to which the provider redirects back. */
  callbackUrl: string
  /** Whether the metadata of the provider has been read. */
  isReached(): boolean
  /**
   * Returns the configuration for requests to the provider.
   * @throws Refusal `unavailable` until it has been reached
   */
  configuration(): oidc.Configuration
}

interface Options {
  issuer: string
  clientId: string
  clientSecret: string | undefined
  publicUrl: string
  log: Logger
  /** Ends retries for a provider that can't be reached. */
  stopping: AbortSignal
}

const ANSWER_SECONDS = 10
const BACK_OFF = { firstMs: 500, maxMs: 30_000 }

/**
 * Reads the provider's metadata in the background, with retries until it responds. Until then sign-ins through it fail,
 * but everything else in the console works.
 */
export function openSignInProvider(options: Options): SignInProvider {
  const { issuer, publicUrl, log, stopping } = options
  let reached: oidc.Configuration | null = null

  async function search(): Promise<void> {
    for (let failures = 1; !stopping.aborted; failures++) {
      try {
        reached = await discover(options)
        return log.info({ issuer }, 'sign-in provider reachable')
      } catch (error) {
        log.warn({ issuer, ...wordsOf(error) }, 'sign-in provider unreachable, will retry')
      }
      await wait(backOffMs(failures, BACK_OFF), undefined, { signal: stopping, ref: false }).catch(() => {})
    }
  }
  void search()

  return {
    issuer,
    callbackUrl: `${publicUrl}/api/v2/session/oidc/callback`,
    isReached: () => reached !== null,
    configuration() {
      if (reached === null) throw refuse('unavailable', {}, { retryAfterMs: BACK_OFF.maxMs })
      return reached
    },
  }
}

/** Loggable part of a failure: its cause can contain tokens and claims. */
function wordsOf(error: unknown): { reason: string; code?: string } {
  const { message, code } = error as { message?: unknown; code?: unknown }
  return { reason: String(message), ...(typeof code === 'string' && { code }) }
}

function discover({ issuer, clientId, clientSecret }: Options): Promise<oidc.Configuration> {
  const execute = [oidc.enableNonRepudiationChecks] // verify signatures even on responses received directly from the provider
  // The configuration allows plain http only for a provider on this machine.
  if (issuer.startsWith('http:')) execute.push(oidc.allowInsecureRequests)
  const options = { timeout: ANSWER_SECONDS, execute }
  return oidc.discovery(new URL(issuer), clientId, {}, authentication(clientSecret), options)
}

/** Basic is the default authentication of every provider (OpenID Connect Discovery 1.0, 3). */
function authentication(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None()
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)]
  return (provider, ...rest) => {
    const taken = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (taken.includes('client_secret_basic') ? basic : post)(provider, ...rest)
  }
}

// Maps an identity at the sign-in provider to a user.
//   P1  Once linked, issuer and subject identify the user; a change of the email doesn't matter.
//   P2  The first time, a verified email identifies the user. A user is created only for the email of an invitation
//       whose link this browser has opened: without a membership they would see nothing.
//   P3  A user has one identity at a provider. An email reassigned to someone else gives no access.
//   P4  If the user was created through a link that an Admin handed over, the first sign-in at the provider ends the
//       password, the second factor and all access that came from it: only this sign-in proves that the owner of the email is present.

export interface Identity {
  issuer: string
  subject: string
  /** null: none that a user could have here. */
  name: string | null
  /** Lowercase; null: the provider has not verified one. */
  verifiedEmail: string | null
}

/**
 * Returns the user, and links the identity to them. `projects` must pass the barrier after the commit (P4).
 * @param invited the email of the invitation of this browser, and the ID for a new user
 * @throws Refusal `not_permitted`
 */
export async function userBehind(
  tx: Transaction,
  identity: Identity,
  invited: { id: string; email: string } | null,
): Promise<{ id: string; email: string; isNew: boolean; projects: string[] }> {
  const { issuer, subject, verifiedEmail } = identity
  const linked = await tx.userIdentity.findUnique({ where: { issuer_subject: { issuer, subject } } })
  if (linked) {
    const { email } = await tx.user.findUniqueOrThrow({ where: { id: linked.user }, select: { email: true } })
    return { id: linked.user, email, isNew: false, projects: [] } // P1
  }

  if (verifiedEmail === null)
    throw refuse('not_permitted', { need: 'an email address that the sign-in provider has verified' })
  const name = identity.name ?? verifiedEmail.split('@')[0]!
  const fresh = invited?.email === verifiedEmail ? [{ ...invited, name }] : [] // P2
  const created = await tx.user.createMany({ data: fresh, skipDuplicates: true })
  const [user] = await tx.$queryRaw<{ id: string; vouched_by: string | null }[]>`
    SELECT id, vouched_by FROM control.users WHERE email = ${verifiedEmail} FOR NO KEY UPDATE`
  if (!user)
    throw new Refusal(
      'not_permitted',
      `There is no account for the email ${verifiedEmail}.`,
      'Open the link of your invitation and sign in from there, or ask an Admin of your organization for an invitation.',
    ) // P2
  const { count } = await tx.userIdentity.createMany({
    data: [{ issuer, subject, user: user.id }],
    skipDuplicates: true,
  })
  if (count === 0) await requireSame(tx, identity, user.id)
  const projects = count === 0 ? [] : await recordLink(tx, user.id, issuer, user.vouched_by)
  return { id: user.id, email: verifiedEmail, isNew: created.count > 0, projects }
}

/** The identity was linked concurrently, or the user has another one. */
async function requireSame(tx: Transaction, { issuer, subject }: Identity, user: string): Promise<void> {
  const linked = await tx.userIdentity.findUnique({ where: { issuer_subject: { issuer, subject } } })
  if (linked?.user === user) return
  throw refuse('not_permitted', { need: 'the account at the sign-in provider that this email belonged to first' }) // P3
}

async function recordLink(tx: Transaction, user: string, issuer: string, vouchedBy: string | null): Promise<string[]> {
  const details = { issuer, endedWhatWasBefore: vouchedBy !== null }
  await recordChange(tx, { tenant: null, user, action: 'identity.link', subject: user, details })
  if (vouchedBy === null) return []
  await tx.user.update({ where: { id: user }, data: { passwordHash: null, vouchedBy: null } }) // P4
  await deleteSecondFactor(tx, user)
  return endCredentials(tx, user)
}

/** Returns a refusal for the user about a failure between console and provider. Details are logged for the operator. */
export function refusalOfProvider(error: unknown, log: Logger): Refusal {
  log.warn(wordsOf(error), 'sign-in at the provider failed')
  if (error instanceof oidc.AuthorizationResponseError) {
    // The provider's description is untrusted text; the code is one of a few known values.
    const code = /^[a-z_]{1,40}$/.test(error.error) ? ` (${error.error})` : ''
    return again(`The sign-in provider did not sign you in${code}.`)
  }
  if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant')
    return again('The sign-in took too long, or was used already.')
  if (error instanceof oidc.ClientError && notProven.has(error.code ?? ''))
    return again('What came back from the sign-in provider does not belong to this sign-in.')
  return refuse('unavailable', {}, { retryAfterMs: 5_000 })
}

/** Codes of invalid responses. Any other code means that the provider is unreachable or misconfigured. */
const notProven = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JWT_USERINFO_EXPECTED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
])

function again(reason: string): Refusal {
  return refuse('invalid_request', { reason, resolution: 'Begin again from the console.' })
}
