import type { ServerResponse } from 'node:http'
import { Refusal, type RefusalBody, type RefusalCode, refuse } from '@gateway/api/refusal'
import type { Deps } from '../deps.ts'
import { errorOfExecution, type ExecutionRecord } from '@gateway/api/execution'
import { usd } from '@gateway/pricing/usd'
import { markCallFailed, traceIdsOf } from '../tracing.ts'
import { isOpenCircuit, refusalOfError } from './refusal-of-error.ts'

const codes = new WeakMap<ServerResponse, RefusalCode>()

/** The code that a request was refused with; undefined if it was not refused. */
export function refusalCodeOf(res: ServerResponse): RefusalCode | undefined {
  return codes.get(res)
}

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
  metrics.refused(refusal.code, causeOf(error))
  refusals.note(res, refusal.code)
  codes.set(res, refusal.code)
  markCallFailed(refusal)
  if (refusal.code === 'internal_error')
    log.error(
      {
        err: error,
        requestId: res.getHeader('X-Request-Id'),
        invocation: res.getHeader('X-Service-Invocation'),
        ...traceIdsOf(res),
      },
      'call failed: unexpected error',
    )
  return refusal
}

/** The refusal of a chat whose execution failed or was cancelled. */
class RefusalOfExecution extends Refusal {}

/** Returns what a refusal is counted with: an alert about this service leaves out those that have a cause. */
function causeOf(error: unknown): 'circuit' | 'execution' | undefined {
  if (isOpenCircuit(error)) return 'circuit'
  return error instanceof RefusalOfExecution ? 'execution' : undefined
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
  return new RefusalOfExecution(code, message, resolution, {
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

interface Begun {
  execution: string
  /** Whether the request has an idempotency key. */
  keyed: boolean
}

/**
 * The refusals of an execution whose end the service could not see or tell. Without an idempotency key a repeat would
 * be another execution, and charged: clients must not repeat it by themselves.
 */
const notAgain = { retryAfterMs: null, headers: { 'x-should-retry': 'false' } }
const readIt = (execution: string) => `Read it at GET /v1/executions/${execution}.`
const another = 'Repeating the request would begin another execution.'

/** It is not known whether the execution has begun: the ledger did not answer. */
export function mayHaveBegun({ execution, keyed }: Begun): Refusal {
  const message = 'A part of the service cannot be reached, so it is not known whether the execution has begun.'
  return keyed
    ? new Refusal(
        'unavailable',
        message,
        'Repeat the request with the same Idempotency-Key after Retry-After seconds: it answers the execution that began, or begins one.',
      )
    : new Refusal(
        'unavailable',
        message,
        `Read GET /v1/executions/${execution} in a minute: 404 means that it has not begun, and a repeat is safe. With an Idempotency-Key every repeat is.`,
        notAgain,
      )
}

/** The execution continues, but this process waits no longer. */
export function continues({ execution, keyed }: Begun): Refusal {
  if (keyed) return refuse('idempotency_in_progress', {})
  const message = `The service could not wait for the execution ${execution}, which continues and is charged.`
  return new Refusal('unavailable', message, `${readIt(execution)} ${another}`, notAgain)
}

/** The execution succeeded, but the ledger could not say what its calls used. */
export function unread({ execution, keyed }: Begun, chargedMicro: number): Refusal {
  const message = `Execution ${execution} succeeded and was charged ${usd(chargedMicro)}, but its usage could not be read.`
  const details = { execution, chargedMicro }
  return keyed
    ? new Refusal(
        'unavailable',
        message,
        'Repeat the request with the same Idempotency-Key after Retry-After seconds: it answers this execution.',
        { details },
      )
    : new Refusal('unavailable', message, `${readIt(execution)} ${another}`, { ...notAgain, details })
}
