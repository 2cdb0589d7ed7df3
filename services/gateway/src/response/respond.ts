import type { ServerResponse } from 'node:http'
import type { Deps } from '../deps.ts'
import { explainError } from '../errors/explain-error.ts'
import type { Call } from '../provider-call/call.ts'
import { release } from '../provider-call/reservation.ts'
import { failureLine } from './event-lines.ts'
import { respondJson } from './respond-json.ts'
import { respondStream } from './respond-stream.ts'
import { openResponseStream } from './response-stream.ts'

type Needed = Parameters<typeof respondJson>[0] &
  Parameters<typeof respondStream>[0] &
  Pick<Deps, 'metrics' | 'log' | 'refusals'>

/**
 * Calls the provider of an admitted call and answers, in one piece or as a stream. Whatever fails before the settlement
 * is not charged.
 */
export async function respond(deps: Needed, res: ServerResponse, call: Call): Promise<void> {
  const stream = call.request.stream ? openResponseStream(res, deps) : null
  try {
    await (stream ? respondStream(deps, stream, call) : respondJson(deps, res, call))
  } catch (error) {
    await release(deps, call.reservation, error instanceof Error ? error.message : 'failed')
    if (!stream?.isOpen()) throw error
    stream.end(failureLine(explainError(deps, error, res)))
  }
}
