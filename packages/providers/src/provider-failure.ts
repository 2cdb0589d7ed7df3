import type { Unsayable } from './wire-format.ts'
import { type Refusal, refuse } from '@gateway/api/refusal'

/**
 * - `unreachable`: no connection, or nothing configured under that name
 * - `refused`: the provider returned an error, as a status or inside its response
 * - `timeout`: the first byte, the next byte or the end came too late
 * - `cut`: the response ended before it was complete
 * - `garbage`: the response doesn't match the wire format
 * - `too_large`: the response exceeds our bounds; with `limitBytes`, because of what was requested
 * - `busy`: no connection to the provider was free in time, so it wasn't called
 * - `circuit_open`: the circuit breaker of the provider is open, so it wasn't called; `retryAfterMs` says for how long
 */
export type FailureKind =
  | 'unreachable'
  | 'refused'
  | 'timeout'
  | 'cut'
  | 'garbage'
  | 'too_large'
  | 'busy'
  | 'circuit_open'

export interface FailureFacts {
  kind: FailureKind
  provider: string
  /** For the log; contains nothing of the prompt or the response. */
  detail: string
  /** Whether a part of the response had already been forwarded. */
  afterFirstByte?: boolean
  providerStatus?: number | undefined
  /** The provider's own error code, such as `context_length_exceeded`. */
  providerCode?: string | undefined
  /** Value of the provider's `Retry-After`. */
  retryAfterMs?: number | undefined
  /** The limit that the response exceeds because of what was requested. */
  limitBytes?: number | undefined
  /** Field of the call that the wire format can't express, so that the provider was not called. */
  unsayable?: Unsayable | undefined
  /** false if the provider was never contacted. Default: true. */
  asked?: boolean
}

/**
 * A provider returned no usable response. The message names the provider, so it is for the log and never for a caller.
 */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure'
  readonly kind: FailureKind
  readonly provider: string
  readonly afterFirstByte: boolean
  /** Whether another provider, or the same one later, may serve the same call. */
  readonly retryable: boolean
  readonly providerStatus: number | undefined
  readonly providerCode: string | undefined
  readonly retryAfterMs: number | undefined
  readonly limitBytes: number | undefined
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
    this.limitBytes = facts.limitBytes
    this.unsayable = facts.unsayable
    this.asked = asked
    this.retryable = !asked || !blamesRequest(this)
  }
}

/** The reader of a response took nothing of it for too long, so its connection was closed. Not the provider's fault. */
export class ReaderStalled extends Error {
  constructor(provider: string) {
    super(`provider ${provider}: the reader of the response takes nothing`)
  }
}

type Blamed = Pick<ProviderFailure, 'kind' | 'providerStatus' | 'limitBytes'>

/** Whether every provider would fail the call, and charge for it. */
function blamesRequest({ kind, providerStatus = 0, limitBytes }: Blamed): boolean {
  return limitBytes !== undefined || (kind === 'refused' && faultsOfTheRequest.has(providerStatus))
}

/** Statuses that blame the request itself, so that every provider would refuse it. */
const faultsOfTheRequest = new Set([400, 413, 414, 415, 422])

/** Default Retry-After if the circuit of every provider of the product is open. It closes without intervention. */
const CIRCUIT_OPEN_MS = 5_000

/** Statuses with which a provider blames the request itself. */
const FAULTS_OF_THE_REQUEST = new Set([400, 413, 422])

/**
 * Returns the refusal for a failed provider. It reveals nothing of the provider's response: not its text, its status or
 * its existence.
 *
 * A request that the provider refuses has passed all of our own checks; it has an order of messages, a schema or
 * content that the provider does not accept, or asks for more than we take. Only the caller can change that, and retrying
 * doesn't help, so it is `invalid_request` and not 502. Refusals of the gateway itself (401, 403, 404, 429) are for the operator to clear; for
 * the caller the model failed.
 */
export function refusalOfProvider({
  kind,
  providerStatus,
  retryAfterMs,
  limitBytes,
  unsayable,
}: ProviderFailure): Refusal {
  if (kind === 'circuit_open') return refuse('unavailable', {}, { retryAfterMs: retryAfterMs ?? CIRCUIT_OPEN_MS })
  if (kind === 'busy') return refuse('overloaded', {})
  if (kind === 'timeout') return refuse('provider_timeout', {})
  if (limitBytes !== undefined)
    return refuse('invalid_request', {
      reason: `${tooLarge(limitBytes)} Nothing is charged.`,
      resolution: 'Request a smaller response, or use another model from GET /v1/models.',
    })
  if (unsayable) return refusalOfUnsayable(unsayable)
  if (kind === 'refused' && FAULTS_OF_THE_REQUEST.has(providerStatus ?? 0))
    return refuse('invalid_request', {
      reason: 'The model rejected this request. Nothing is charged.',
      resolution:
        'Check the order of the messages, that each tool message answers a tool call, the schemas in tools and response_format, and the length; or use another model from GET /v1/models.',
    })
  return refuse('provider_failed', {})
}

/** States the limit that a response exceeds. */
export function tooLarge(limitBytes: number): string {
  return `The response is larger than ${limitBytes} bytes.`
}

/** The wire format of the only provider can't express the call, so it was never sent. */
function refusalOfUnsayable({ field, problem, instead }: Unsayable): Refusal {
  const facts = {
    reason: `This model does not take the request: ${field} ${problem}. Nothing is charged.`,
    resolution: `Correct ${field}: ${instead}. Or use another model from GET /v1/models.`,
  }
  return refuse('invalid_request', facts, { param: field })
}
