import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { Request } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import { disconnectSignal } from '@gateway/http/client-disconnected'
import type { Handler } from '../request/call.ts'
import { requireJsonWithinLimits } from '../request/json-limits.ts'
import { reachSandbox } from '../sandboxes/reach-sandbox.ts'
import { followExecution } from './follow-execution.ts'

/**
 * JSON and NDJSON may both have spaces before a line, so a space every so often keeps proxies from giving up
 * (flows §4.4).
 */
const KEEP_ALIVE_MS = 15_000
const NDJSON = 'application/x-ndjson'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'newId' | 'stopping'>

/**
 * POST …/sandboxes/{s}/execute: runs any revision without problems, without a key, on the project's wallet (rules §7.2).
 * Answered as the record once the execution is over, or as NDJSON progress; never as an image (flows §4.5). A
 * client that
 * leaves does not stop the execution.
 * @throws Refusal as the admission of an invoke would
 */
export function executeSandbox(deps: Deps): Handler<'executeSandbox'> {
  const { ledger, newId, stopping } = deps
  return async (call, res) => {
    const { person, project, sandbox } = await reachSandbox(deps, call, res)
    const { input, revision } = await call.body()
    requireJsonWithinLimits(input, 'input')
    const started = await ledger.startExecution({
      id: newId('exe'),
      caller: { person: person.id, project },
      sandbox: sandbox.id,
      revision,
      surface: 'invoke',
      input,
      idempotency: null,
      trace: null,
    })
    if ('refused' in started) throw refusalFor(started.refused, 'console')

    const { execution } = started
    const disconnected = AbortSignal.any([disconnectSignal(res), stopping])
    const asNdjson = wantsNdjson(call.req)
    res.type(asNdjson ? NDJSON : 'json').set('X-Service-Invocation', execution)
    const keepAlive = setInterval(() => res.write(' '), KEEP_ALIVE_MS)
    try {
      for await (const lines of followExecution({ ledger }, execution, disconnected)) if (asNdjson) res.write(lines)
      res.end(asNdjson ? '' : await recordOf(deps, project, execution))
    } catch (error) {
      if (!disconnected.aborted) throw error
      res.destroy() // the client has left, or this process ends: the record stays to be read
    } finally {
      clearInterval(keepAlive)
    }
  }
}

async function recordOf({ ledger }: Deps, project: string, execution: string): Promise<string> {
  const answer = await ledger.readExecution({ caller: null, project, execution })
  if ('refused' in answer) throw refusalFor(answer.refused, 'console')
  return answer.record
}

/** The answer is the record, whatever else is accepted, unless NDJSON is asked for. */
function wantsNdjson(req: Request): boolean {
  return req.accepts(['json', NDJSON]) === NDJSON
}
