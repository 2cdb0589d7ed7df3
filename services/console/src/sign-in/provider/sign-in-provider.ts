import { setTimeout as wait } from 'node:timers/promises'
import * as oidc from 'openid-client'
import { backOffMs } from '@gateway/service-kit/async/back-off'
import { refuse } from '@gateway/contracts/refusal'
import type { Logger } from '@gateway/service-kit/process/logger'

/** Where people sign in by OpenID Connect, if the operator has named a provider. */
export interface SignInProvider {
  issuer: string
  /** Where the provider sends a browser back to. */
  callbackUrl: string
  /** Whether what the provider says of itself has been read. */
  isReached(): boolean
  /**
   * What is needed to send it requests.
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
  /** Ends the search for a provider that can't be reached. */
  stopping: AbortSignal
}

const ANSWER_SECONDS = 10
const BACK_OFF = { firstMs: 500, maxMs: 30_000 }

/**
 * Reads what the provider says of itself in the background, again and again until it answers: without it nobody signs in
 * there, and everything else of the console works.
 */
export function openSignInProvider(options: Options): SignInProvider {
  const { issuer, publicUrl, log, stopping } = options
  let reached: oidc.Configuration | null = null

  async function search(): Promise<void> {
    for (let failures = 1; !stopping.aborted; failures++) {
      try {
        reached = await discover(options)
        return log.info({ issuer }, 'the sign-in provider is reached')
      } catch (error) {
        log.warn({ issuer, ...wordsOf(error) }, 'the sign-in provider is not reached')
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

/** What a log may say of a failure: its cause can hold tokens and claims. */
export function wordsOf(error: unknown): { reason: string; code?: string } {
  const { message, code } = error as { message?: unknown; code?: unknown }
  return { reason: String(message), ...(typeof code === 'string' && { code }) }
}

function discover({ issuer, clientId, clientSecret }: Options): Promise<oidc.Configuration> {
  const execute = [oidc.enableNonRepudiationChecks] // look at signatures also of what came straight from the provider
  // Configuration lets plain http through for a provider on this machine only.
  if (issuer.startsWith('http:')) execute.push(oidc.allowInsecureRequests)
  const options = { timeout: ANSWER_SECONDS, execute }
  return oidc.discovery(new URL(issuer), clientId, {}, authentication(clientSecret), options)
}

/** Basic is what every provider takes unless it says otherwise (OpenID Connect Discovery 1.0, 3). */
function authentication(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None()
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)]
  return (provider, ...rest) => {
    const taken = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (taken.includes('client_secret_basic') ? basic : post)(provider, ...rest)
  }
}
