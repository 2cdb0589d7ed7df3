import type { ServerResponse } from 'node:http'
import { Refusal, type RefusalBody, refuse } from '@gateway/api/refusal'
import type { Deps } from '../deps.ts'
import { AssetStoreUnavailable } from '@gateway/assets/blob-backend'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { ProviderFailure, refusalOfProvider } from '@gateway/providers/provider-failure'
import { ProcessStopping } from '../admission/limits.ts'
import { errorOfExecution, type ExecutionRecord } from '@gateway/api/execution'

/**
 * Returns the refusal for anything thrown. Counts it, reports it to the users of the project, and logs a bug with the
 * IDs that the caller sees.
 */
export function explainError(
  { log, metrics, refusals }: Pick<Deps, 'log' | 'metrics' | 'refusals'>,
  error: unknown,
  res: ServerResponse,
): Refusal {
  const refusal = refusalOfError(error)
  metrics.refused(refusal.code)
  refusals.note(res, refusal.code)
  if (refusal.code === 'internal_error')
    log.error(
      { err: error, requestId: res.getHeader('X-Request-Id'), invocation: res.getHeader('X-Service-Invocation') },
      'call failed: unexpected error',
    )
  return refusal
}

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

/**
 * Returns the error for a chat whose execution failed or was cancelled
 * (docs/decisions/0006-a-sandbox-called-as-a-model.md): the error of the execution, with its ID and charge. An
 * execution that no worker claimed is `no_worker`, which a chat client can retry like any unavailable service.
 * `x-should-retry` keeps clients from retrying automatically if a repeat would return the same or be charged again.
 */
export function refusalOfExecution(record: ExecutionRecord, keyed: boolean): Refusal {
  const { id, chargedMicro } = record
  const { code, message, resolution, param, details } = errorOf(record)
  return new Refusal(code, message, resolution, {
    ...(param !== null && { param }),
    details: { ...details, execution: id, chargedMicro },
    ...((keyed || chargedMicro > 0) && { retryAfterMs: null, headers: { 'x-should-retry': 'false' } }),
  })
}

/** Returns the error of a record. It already says what was charged and how to run the execution again. */
function errorOf({ id, error, startedAt, chargedMicro }: ExecutionRecord): RefusalBody {
  if (error === null) throw new Error(`the execution ${id} failed without an error`)
  if (error.code !== 'execution_timeout' || startedAt !== null) return error
  return errorOfExecution(refuse('no_worker', {}).body, { id, startedBy: 'chat', chargedMicro, ended: true })
}
