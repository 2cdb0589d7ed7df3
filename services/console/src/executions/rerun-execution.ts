import { createHash } from 'node:crypto'
import type { CheckedBodyOf } from '@gateway/contracts/api-route'
import type { ConsoleRoutes } from '@gateway/contracts/console-routes'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { readKey } from '../request/create-once.ts'
import { authenticated } from '../sign-in/authenticate.ts'
import { personOf, type Person } from '../sign-in/person.ts'
import { sendExecution } from './send-execution.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'newId' | 'stopping' | 'now' | 'publicUrl'>

/**
 * POST …/projects/{p}/executions/{e}/rerun: runs from a node of an execution that has ended, and takes over the results of the
 * others (flows §4.12). The ledger begins it, once under an idempotency key. The audit row follows, also when a repeat has to write
 * it.
 * @throws Refusal `execution_not_found`, `execution_not_ended`, `rerun_differs`, and as the admission of an invoke would
 */
export function rerunExecution(deps: Deps): Handler<'rerunExecution'> {
  return async (call, res) => {
    const [tenant, project, execution] = [call.id('tenant'), call.id('project'), call.id('execution')]
    const authorize = async (person: Person) => {
      if (!(await mayUseSandboxes(deps, person, tenant, project))) throw refuse('execution_not_found', { execution })
    }
    const { id: person } = personOf(res)
    await authorize(personOf(res))
    const key = readKey(call.req)
    const asked = await call.body()
    const started = await deps.ledger.rerunExecution({
      id: deps.newId('exe'),
      person,
      project,
      execution,
      ...asked,
      idempotency: key === null ? null : { key, fingerprint: fingerprintOf(execution, asked) },
      trace: null,
    })
    if ('refused' in started) throw refusalFor(started.refused, 'console')
    const change = { tenant, person, action: 'sandbox.execution.rerun', subject: started.sandbox }
    await deps.prisma.$transaction(async (tx) => {
      const where = { ...change, details: { path: ['execution'], equals: started.execution } }
      if (started.replayed && (await tx.auditEntry.findFirst({ where }))) return
      const details = { execution: started.execution, rerunOf: execution, from: asked.from }
      await recordChange(tx, { ...change, details })
    })
    if (started.replayed) res.set('Idempotent-Replayed', 'true')
    const begun = { project, execution: started.execution }
    await sendExecution(deps, call.req, res, begun, async () => authorize(await authenticated(deps, call.req)))
  }
}

/** Of what has to be the same under one idempotency key, besides project and person: hex. */
function fingerprintOf(
  execution: string,
  { from, revision, maxMicro }: CheckedBodyOf<ConsoleRoutes['rerunExecution']>,
): string {
  return createHash('sha256').update(JSON.stringify({ execution, from, revision, maxMicro })).digest('hex')
}
