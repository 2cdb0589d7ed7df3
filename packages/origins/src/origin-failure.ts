/**
 * - `unreachable`: no connection, or nothing configured under that name
 * - `refused`: the origin answered with an error, as a status or inside its answer
 * - `timeout`: the first byte, the next one or the end came too late
 * - `cut`: the answer ended before it was complete
 * - `garbage`: the answer isn't what the wire format says
 * - `too_large`: the answer exceeds the bounds of answer-limits.ts
 * - `resting`: the origin failed so often that it wasn't asked; `retryAfterMs` says for how long
 */
export type FailureKind = 'unreachable' | 'refused' | 'timeout' | 'cut' | 'garbage' | 'too_large' | 'resting'

export interface FailureFacts {
  kind: FailureKind
  origin: string
  /** For the log; holds nothing of the prompt or the answer. */
  detail: string
  /** Whether a part of the answer had already been handed on. */
  afterFirstByte?: boolean
  originStatus?: number | undefined
  /** The origin's own error code, such as `context_length_exceeded`. */
  originCode?: string | undefined
  /** What the origin's `Retry-After` asks for. */
  retryAfterMs?: number | undefined
  /** false: the origin never got the call. Default: it did, or was tried to reach. */
  asked?: boolean
}

/**
 * The world broke: an origin gave no usable answer. The message names the origin, so it is for the log and never
 * for a caller.
 */
export class OriginFailure extends Error {
  override readonly name = 'OriginFailure'
  readonly kind: FailureKind
  readonly origin: string
  readonly afterFirstByte: boolean
  /** Whether another origin, or the same one later, may answer the same call. */
  readonly retryable: boolean
  readonly originStatus: number | undefined
  readonly originCode: string | undefined
  readonly retryAfterMs: number | undefined
  readonly asked: boolean

  constructor({ kind, origin, detail, afterFirstByte = false, asked = true, ...facts }: FailureFacts) {
    super(`origin ${origin}: ${kind}: ${detail}`)
    this.kind = kind
    this.origin = origin
    this.afterFirstByte = afterFirstByte
    this.originStatus = facts.originStatus
    this.originCode = facts.originCode
    this.retryAfterMs = facts.retryAfterMs
    this.asked = asked
    this.retryable = !asked || !(kind === 'refused' && faultsOfTheRequest.has(facts.originStatus ?? 0))
  }
}

/** Statuses which say that the request itself is wrong, so that every origin would refuse it. */
const faultsOfTheRequest = new Set([400, 413, 414, 415, 422])
