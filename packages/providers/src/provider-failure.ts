import type { Unsayable } from './wire-format.ts'
import { type Refusal, refuse } from '@gateway/api/refusal'

/**
 * - `unreachable`: no connection, or nothing configured under that name
 * - `refused`: the provider answered with an error, as a status or inside its answer
 * - `timeout`: the first byte, the next one or the end came too late
 * - `cut`: the answer ended before it was complete
 * - `garbage`: the answer isn't what the wire format says
 * - `too_large`: the answer exceeds the bounds of chat-port.ts
 * - `circuit_open`: the circuit breaker of the provider is open, so it wasn't asked; `retryAfterMs` says for how long
 */
export type FailureKind = 'unreachable' | 'refused' | 'timeout' | 'cut' | 'garbage' | 'too_large' | 'circuit_open'

export interface FailureFacts {
  kind: FailureKind
  provider: string
  /** For the log; holds nothing of the prompt or the answer. */
  detail: string
  /** Whether a part of the answer had already been forwarded. */
  afterFirstByte?: boolean
  providerStatus?: number | undefined
  /** The provider's own error code, such as `context_length_exceeded`. */
  providerCode?: string | undefined
  /** What the provider's `Retry-After` asks for. */
  retryAfterMs?: number | undefined
  /** Why the provider was not asked: what of the call can't be said to it. */
  unsayable?: Unsayable | undefined
  /** false: the provider never got the call. Default: it did, or was tried to reach. */
  asked?: boolean
}

/**
 * A provider gave no usable answer. The message names the provider, so it is for the log and never
 * for a caller.
 */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
  readonly kind: FailureKind
  readonly provider: string
  readonly afterFirstByte: boolean
  /** Whether another provider, or the same one later, may answer the same call. */
  readonly retryable: boolean
  readonly providerStatus: number | undefined
  readonly providerCode: string | undefined
  readonly retryAfterMs: number | undefined
  readonly unsayable: Unsayable | undefined
  readonly asked: boolean

  constructor({ kind, provider, detail, afterFirstByte = false, asked = true, ...facts }: FailureFacts) {
    super(`provider ${provider}: ${kind}: ${detail}`)
    this.kind = kind
    this.provider = provider
    this.afterFirstByte = afterFirstByte
    this.providerStatus = facts.providerStatus
    this.providerCode = facts.providerCode
    this.retryAfterMs = facts.retryAfterMs
    this.unsayable = facts.unsayable
    this.asked = asked
    this.retryable = !asked || !(kind === 'refused' && faultsOfTheRequest.has(facts.providerStatus ?? 0))
  }
}

/** Statuses which say that the request itself is wrong, so that every provider would refuse it. */
const faultsOfTheRequest = new Set([400, 413, 414, 415, 422])

/** The circuit of every provider of the product is open after many failures: no one was asked, and it passes by itself. */
const CIRCUIT_OPEN_MS = 5_000

/** Statuses with which a provider says that the request itself is wrong. */
const FAULTS_OF_THE_REQUEST = new Set([400, 413, 422])

/**
 * The refusal for a failed provider. Nothing of its answer gets through: neither its words nor its status nor that
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
      reason: 'The model rejected this request. Nothing is charged.',
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
