import * as oidc from 'openid-client'
import { refuse, type Refusal } from '@gateway/contracts/refusal'
import type { Logger } from '@gateway/service-kit/process/logger'
import { wordsOf } from './sign-in-provider.ts'

/** What went wrong between us and the provider, in words for the person before the browser. The rest is for the operator. */
export function refusalOfProvider(error: unknown, log: Logger): Refusal {
  log.warn(wordsOf(error), 'a sign-in at the provider failed')
  if (error instanceof oidc.AuthorizationResponseError) {
    // The provider's own words are text that anybody may have written; the code is one of a known few.
    const code = /^[a-z_]{1,40}$/.test(error.error) ? ` (${error.error})` : ''
    return again(`The sign-in provider did not sign you in${code}.`)
  }
  if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant')
    return again('The sign-in took too long, or was used already.')
  if (error instanceof oidc.ClientError && notProven.has(error.code ?? ''))
    return again('What came back from the sign-in provider does not belong to this sign-in.')
  return refuse('unavailable', {}, { retryAfterMs: 5_000 })
}

/** Answers that were read and are not valid; all else is a provider that can't be reached, or is set up wrongly. */
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
