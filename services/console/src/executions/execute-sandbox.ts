import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../deps.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import type { Call, Handler } from '../request/call.ts'
import { requireJsonWithinLimits } from '../request/json-limits.ts'
import { reachSandbox } from '../sandboxes/reach-sandbox.ts'
import { authenticated } from '../sign-in/authenticate.ts'
import { sendExecution } from './send-execution.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'newId' | 'stopping' | 'now' | 'publicUrl'>

/**
 * POST …/sandboxes/{s}/execute: runs any revision without problems, without a key, on the project's wallet (rules §7.2).
 * Answered as the record once the execution is over, or as NDJSON progress; never as an image (flows §4.5). A client
 * that leaves does not stop the execution. A person who may not read it any more gets no further line.
 * @throws Refusal as the admission of an invoke would
 */
export function executeSandbox(deps: Deps): Handler<'executeSandbox'> {
  const { ledger, newId } = deps
  return async (call, res) => {
    const { person, project, sandbox } = await reachSandbox(deps, call, res)
    const { input, revision, maxMicro } = await call.body()
    requireJsonWithinLimits(input, 'input')
    const started = await ledger.startExecution({
      id: newId('exe'),
      caller: { person: person.id, project },
      sandbox: sandbox.id,
      revision,
      surface: 'invoke',
      input,
      ...(maxMicro !== null && { maxMicro }), // one of the release before does not know the field
      idempotency: null,
      trace: null,
    })
    if ('refused' in started) throw refusalFor(started.refused, 'console')

    const authorize = () => authorizeAgain(deps, call, { sandbox: sandbox.id, project })
    await sendExecution(deps, call.req, res, { project, execution: started.execution }, authorize)
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
