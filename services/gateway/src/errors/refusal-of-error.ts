import { AssetStoreUnavailable } from '@gateway/assets/asset-failures'
import { Refusal, refuse } from '@gateway/contracts/refusal'
import { LedgerUnavailable } from '@gateway/ledger-client/ledger-failures'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import { refusalOfProvider } from '@gateway/providers/refusal-of-provider'
import { ProcessStopping } from '../open-calls.ts'

/**
 * What a caller is told of whatever was thrown. Nothing of a provider's answer gets through: neither its words nor its
 * status nor that there is one.
 */
export function refusalOfError(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof LedgerUnavailable) return refuse(error.why, {})
  if (error instanceof AssetStoreUnavailable) return refuse('unavailable', {})
  if (error instanceof ProviderFailure) return refusalOfProvider(error)
  if (error instanceof ProcessStopping) return refuse('unavailable', {})
  if (isUnreadablePath(error)) return unreadablePath()
  return refuse('internal_error', {})
}

/**
 * What a caller is told when an answer breaks off after its first byte. Unlike any other failure it is charged: for the
 * prompt and for what was sent (rules §3.8).
 */
export function refusalOfBreak(error: unknown): Refusal {
  const resolution =
    'Repeat the request, with a new Idempotency-Key if one was sent, or use another model from GET /v1/models.'
  if (error instanceof ProviderFailure && error.kind === 'timeout')
    return new Refusal(
      'provider_timeout',
      'The model did not complete its answer in time. The prompt and the tokens sent so far are charged.',
      resolution,
    )
  return new Refusal(
    'provider_failed',
    'The model broke off its answer. The prompt and the tokens sent so far are charged.',
    resolution,
  )
}

/** What Express throws for a path whose percent-encoding can't be read. */
function isUnreadablePath(error: unknown): boolean {
  return error instanceof URIError
}

function unreadablePath(): Refusal {
  return refuse('invalid_request', {
    reason: 'The path is not percent-encoded correctly.',
    resolution: 'Encode each special character of an id as % and two hexadecimal digits of its UTF-8 bytes.',
  })
}
