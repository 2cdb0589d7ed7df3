import { refuse, type Refusal } from '@gateway/contracts/refusal'
import type { ProviderFailure } from './provider-failure.ts'
import type { Unsayable } from './wire-format.ts'

/** The circuit of every provider of the product is open after many failures: nobody was asked, and it passes by itself. */
const CIRCUIT_OPEN_MS = 5_000

/** Statuses with which a provider says that the request itself is wrong. */
const FAULTS_OF_THE_REQUEST = new Set([400, 413, 422])

/**
 * What a caller is told when a provider fails. Nothing of its answer gets through: neither its words nor its status nor that
 * there is one.
 *
 * A provider that refuses the request as such refuses what passed all of our own checks: an order of messages, a schema, a
 * content it does not take. Only the caller can change that, and repeating can't, so it is `invalid_request` and not 502.
 * Refusals of us (401, 403, 404, 429) are the operator's to clear; for the caller the model failed.
 */
export function refusalOfProvider({ kind, providerStatus, retryAfterMs, unsayable }: ProviderFailure): Refusal {
  if (kind === 'circuit_open') return refuse('unavailable', {}, { retryAfterMs: retryAfterMs ?? CIRCUIT_OPEN_MS })
  if (kind === 'timeout') return refuse('provider_timeout', {})
  if (unsayable) return refusalOfUnsayable(unsayable)
  if (kind === 'refused' && FAULTS_OF_THE_REQUEST.has(providerStatus ?? 0))
    return refuse('invalid_request', {
      reason: 'The model refused this request as it is. Nothing is charged.',
      resolution:
        'Check the order of the messages, that each tool message answers a tool call, the schemas in tools and response_format, and the length; or use another model from GET /v1/models.',
    })
  return refuse('provider_failed', {})
}

/** The call asks for what the wire format of its only provider has no words for: it was never sent. */
function refusalOfUnsayable({ field, problem, instead }: Unsayable): Refusal {
  const facts = {
    reason: `This model does not take the request: ${field} ${problem}. Nothing is charged.`,
    resolution: `Correct ${field}: ${instead}. Or use another model from GET /v1/models.`,
  }
  return refuse('invalid_request', facts, { param: field })
}
