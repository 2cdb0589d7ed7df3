import type { ServerResponse } from 'node:http'
import type { Refusal } from '@gateway/contracts/refusal'
import type { Deps } from '../deps.ts'
import { refusalOfError } from './refusal-of-error.ts'

/**
 * What the caller is told of whatever was thrown. Counts it, notes it for the people of the project, and writes a bug
 * into the log with the ids that the caller sees.
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
      'a call failed by a fault of ours',
    )
  return refusal
}
