import type { Request, RequestHandler } from 'express'
import { executeBody } from '@gateway/contracts/console'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { flowLimits } from '@gateway/contracts/limits'
import type { ConsoleDeps } from '../needs.ts'
import { check } from '../receive/check.ts'
import { requireModestJson } from '../receive/modest-json.ts'
import { readBody } from '../receive/read-body.ts'
import type { Authorize } from '../permissions/authorize.ts'
import { reachSandbox } from '../sandboxes/reach-sandbox.ts'
import { followExecution } from './follow-run.ts'

/** JSON and NDJSON may both have spaces before a line, so one every so often keeps proxies awake (decisions.md, 6). */
const AWAKE_MS = 15_000
const NDJSON = 'application/x-ndjson'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'mint' | 'stopping'> & { authorize: Authorize }

/**
 * POST …/sandboxes/{s}/execute: runs any revision without problems, without a key, on the project's wallet (decisions.md,
 * 7). Answered as the record once the run is over, or as NDJSON progress; never as an image (spec 4.3). Whoever goes away
 * leaves the run going on.
 * @throws Refusal as the admission of an invoke would
 */
export function executeSandbox(deps: Deps): RequestHandler {
  const { ledger, mint, stopping } = deps
  return async (req, res) => {
    const { person, project, sandbox } = await reachSandbox(deps, req, res)
    const body = await readBody(req, flowLimits.bodyBytes)
    const { input, revision } = check(executeBody, body)
    requireModestJson(input, 'input')
    const started = await ledger.startExecution({
      id: mint('exe'),
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
    const left = new AbortController()
    res.once('close', () => left.abort())
    const gone = AbortSignal.any([left.signal, stopping])
    const asNdjson = wantsNdjson(req)
    res.type(asNdjson ? NDJSON : 'json').set('X-Service-Invocation', execution)
    const awake = setInterval(() => res.write(' '), AWAKE_MS)
    try {
      for await (const lines of followExecution({ ledger }, execution, gone)) if (asNdjson) res.write(lines)
      res.end(asNdjson ? '' : await recordOf(deps, project, execution))
    } catch (error) {
      if (!gone.aborted) throw error
      res.destroy() // the caller has left, or this process ends: the run's record stays to be read
    } finally {
      clearInterval(awake)
    }
  }
}

async function recordOf({ ledger }: Deps, project: string, execution: string): Promise<string> {
  const answer = await ledger.readExecution({ caller: null, project, execution })
  if ('refused' in answer) throw refusalFor(answer.refused, 'console')
  return answer.record
}

/** What is not asked for as NDJSON is answered as the record, whatever else is accepted. */
function wantsNdjson(req: Request): boolean {
  return req.accepts(['json', NDJSON]) === NDJSON
}
