import { AssetStoreUnavailable } from '@gateway/assets/blob-backend'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { ProviderFailure, refusalOfProvider } from '@gateway/providers/provider-failure'
import { Refusal, type RefusalCode, refuse } from '@gateway/api/refusal'
import { ProcessStopping } from '../admission/limits.ts'

/**
 * Returns the refusal for anything thrown. It reveals nothing of a provider's response: not its text, its status or its
 * existence.
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
 * Returns the refusal for anything that an embedding call throws. Its caller sees inputs, not messages: where the cure
 * is that of a chat, it is replaced.
 */
export function refusalOfEmbedding(error: unknown): Refusal {
  const refusal = refusalOfError(error)
  const { code, param, message, details } = refusal.body
  const cure = cureOfEmbedding(error, code)
  return cure === null
    ? refusal
    : new Refusal(code, message, cure, { ...(param !== null && { param }), ...(details && { details }) })
}

function cureOfEmbedding(error: unknown, code: RefusalCode): string | null {
  const another = 'or use another model from GET /v1/embeddings/models.'
  if (code === 'context_limit') return `Send shorter or fewer inputs, ${another}`
  if (!(error instanceof ProviderFailure)) return null
  if (code === 'provider_failed') return `Retry the request, ${another}`
  if (code === 'provider_timeout') return `Retry the request with shorter or fewer inputs, ${another}`
  if (code !== 'invalid_request') return null
  const { unsayable } = error
  if (unsayable) return `Correct ${unsayable.field}: ${unsayable.instead}, ${another}`
  return `Send ${error.kind === 'too_large' ? 'fewer' : 'shorter or fewer'} inputs, ${another}`
}

/**
 * Returns the error for a response truncated after its first byte. Unlike any other failure it is charged: for the
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
    'The response of the model was truncated. The prompt and the tokens sent so far are charged.',
    resolution,
  )
}

/** Whether no provider was called because their circuit breakers are open. */
export function isOpenCircuit(error: unknown): boolean {
  return error instanceof ProviderFailure && error.kind === 'circuit_open'
}

/** Express throws a URIError for a path with invalid percent-encoding. */
function isUnreadablePath(error: unknown): boolean {
  return error instanceof URIError
}

function unreadablePath(): Refusal {
  return refuse('invalid_request', {
    reason: 'The path is not percent-encoded correctly.',
    resolution: 'Encode each special character of an id as % and two hexadecimal digits of its UTF-8 bytes.',
  })
}
