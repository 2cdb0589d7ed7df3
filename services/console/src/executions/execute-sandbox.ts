import { createHash } from 'node:crypto'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../deps.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import type { Call, Handler } from '../request/call.ts'
import { fingerprintOf, readKey } from '../request/create-once.ts'
import { requireJsonWithinLimits } from '../request/json-limits.ts'
import { reachSandbox } from '../sandboxes/reach-sandbox.ts'
import { authenticated } from '../sign-in/authenticate.ts'
import { sendExecution } from './send-execution.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'newId' | 'stopping' | 'now' | 'publicUrl'>

/**
 * POST …/sandboxes/{s}/execute: runs any revision without problems, without a key, on the project's wallet (rules §7.2).
 * Answered as the record once the execution is over, or as NDJSON progress; never as an image (flows §4.5). A client
 * that leaves does not stop the execution. A person who may not read it any more gets no further line. The ledger begins it, once
 * under an idempotency key of this person.
 * @throws Refusal as the admission of an invoke would
 */
export function executeSandbox(deps: Deps): Handler<'executeSandbox'> {
  const { ledger, newId } = deps
  return async (call, res) => {
    const { person, project, sandbox } = await reachSandbox(deps, call, res)
    const key = readKey(call.req)
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
      idempotency: key === null ? null : await onceBy(person.id, key, call),
      trace: null,
    })
    if ('refused' in started) throw refusalFor(started.refused, 'console')
    if (started.replayed) res.set('Idempotent-Replayed', 'true')

    const authorize = () => authorizeAgain(deps, call, { sandbox: sandbox.id, project })
    await sendExecution(deps, call.req, res, { project, execution: started.execution }, authorize)
  }
}

/**
 * The ledger keeps the keys of a project and a sandbox product together, whoever sent them. Those of a person have a space, which no
 * header `Idempotency-Key` has, so they meet nobody else's.
 */
async function onceBy(person: string, key: string, call: Call<ConsoleRoutes['executeSandbox']>) {
  const own = createHash('sha256')
    .update(JSON.stringify([person, key]))
    .digest('hex')
  return { key: `person ${own}`, fingerprint: (await fingerprintOf(call)).toString('hex') }
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
