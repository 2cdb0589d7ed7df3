import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { refuse, Refusal } from '@gateway/contracts/refusal'
import type { Request } from 'express'
import type { ConsoleDeps } from '../deps.ts'
import { disconnectSignal } from '@gateway/http/client-disconnected'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import type { Call, Handler } from '../request/call.ts'
import { requireJsonWithinLimits } from '../request/json-limits.ts'
import { reachSandbox } from '../sandboxes/reach-sandbox.ts'
import { authenticated } from '../sign-in/authenticate.ts'
import { followExecution } from './follow-execution.ts'

/**
 * JSON and NDJSON may both have spaces before a line, so a space every so often keeps proxies from giving up
 * (flows §4.4).
 */
const KEEP_ALIVE_MS = 15_000
const NDJSON = 'application/x-ndjson'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'newId' | 'stopping' | 'now' | 'publicUrl'>

/**
 * POST …/sandboxes/{s}/execute: runs any revision without problems, without a key, on the project's wallet (rules §7.2).
 * Answered as the record once the execution is over, or as NDJSON progress; never as an image (flows §4.5). A client
 * that leaves does not stop the execution. A person who may not read it any more gets no further line.
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
    const authorize = () => authorizeAgain(deps, call, { sandbox: sandbox.id, project })
    const disconnected = AbortSignal.any([disconnectSignal(res), stopping])
    const asNdjson = wantsNdjson(call.req)
    res.type(asNdjson ? NDJSON : 'json').set('X-Service-Invocation', execution)
    const keepAlive = setInterval(() => res.write(' '), KEEP_ALIVE_MS)
    try {
      const progress = followExecution({ ledger }, execution, authorize, disconnected)
      for await (const lines of progress) if (asNdjson) res.write(lines)
      res.end(asNdjson ? '' : await recordOf(deps, project, execution))
    } catch (error) {
      if (disconnected.aborted) return void res.destroy() // the client has left, or this process ends: the record stays to be read
      if (!asNdjson || !res.headersSent || !(error instanceof Refusal)) throw error
      res.end(`${JSON.stringify({ kind: 'refused', error: error.body })}\n`)
    } finally {
      clearInterval(keepAlive)
    }
  }
}

/** As the first look was: the person may have signed out since, and may have lost their grant. */
async function authorizeAgain(
  deps: Deps,
  call: Pick<Call<ConsoleRoutes['executeSandbox']>, 'req' | 'id'>,
  { sandbox, project }: { sandbox: string; project: string },
): Promise<void> {
  const person = await authenticated(deps, call.req)
  if (!(await mayUseSandboxes(deps, person, call.id('tenant'), project))) throw refuse('sandbox_not_found', { sandbox })
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
