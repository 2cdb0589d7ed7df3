import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { Request, Response } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import { followExecution } from './follow-execution.ts'
import { NDJSON, sendProgress } from './send-progress.ts'

type Deps = Pick<ConsoleDeps, 'ledger' | 'stopping'>
interface Begun {
  project: string
  execution: string
}

/**
 * Answers with an execution that a person has begun: its record once it is over, or its progress as NDJSON.
 * @param authorize as of followExecution
 */
export async function sendExecution(
  deps: Deps,
  req: Request,
  res: Response,
  begun: Begun,
  authorize: () => Promise<void>,
): Promise<void> {
  res.set('X-Service-Invocation', begun.execution)
  await sendProgress(
    deps,
    res,
    (disconnected) => followExecution(deps, { ...begun, after: -1 }, authorize, disconnected),
    wantsNdjson(req) ? null : () => recordOf(deps, begun),
  )
}

async function recordOf({ ledger }: Deps, begun: Begun): Promise<string> {
  const answer = await ledger.readExecution({ caller: null, ...begun, detailed: true })
  if ('refused' in answer) throw refusalFor(answer.refused, 'console')
  return answer.record
}

/** The answer is the record, whatever else is accepted, unless NDJSON is asked for. */
function wantsNdjson(req: Request): boolean {
  return req.accepts(['json', NDJSON]) === NDJSON
}
