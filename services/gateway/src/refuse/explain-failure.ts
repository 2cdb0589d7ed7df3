import type { ServerResponse } from 'node:http'
import type { Refusal } from '@gateway/contracts/refusal'
import type { Logger } from '@gateway/process/logger'
import type { Metrics } from '../metrics.ts'
import { refusalOfFailure } from './refusal-of-failure.ts'

/** Turns whatever was thrown into what the caller is told, counts it, and writes a bug into the log with the ids he sees. */
export type ExplainFailure = (error: unknown, res: Pick<ServerResponse, 'getHeader'>) => Refusal

export function failureExplainer({ log, metrics }: { log: Logger; metrics: Pick<Metrics, 'refused'> }): ExplainFailure {
  return (error, res) => {
    const refusal = refusalOfFailure(error)
    metrics.refused(refusal.code)
    if (refusal.code === 'internal_error')
      log.error(
        { err: error, requestId: res.getHeader('X-Request-Id'), invocation: res.getHeader('X-Service-Invocation') },
        'a call failed by a fault of ours',
      )
    return refusal
  }
}
