import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { personOf } from '../sign-in/person.ts'

/**
 * POST …/projects/{p}/executions/{e}/cancel: stops an execution, whoever began it (flows §4.11). The ledger stops it, once. The
 * audit row follows, also when a repeat has to write it.
 * @throws Refusal `execution_not_found`
 */
export function cancelExecution(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'cancelExecution'> {
  return async (call, res) => {
    const person = personOf(res)
    const [tenant, project, execution] = [call.id('tenant'), call.id('project'), call.id('execution')]
    if (!(await mayUseSandboxes(deps, person, tenant, project))) throw refuse('execution_not_found', { execution })
    const answer = await deps.ledger.cancelExecution({ caller: null, project, execution, sandbox: null })
    if ('refused' in answer) throw refusalFor(answer.refused, 'console')
    if (answer.stoppedBy === 'person')
      await deps.prisma.$transaction(async (tx) => {
        const change = { tenant, action: 'sandbox.execution.cancel', subject: answer.sandbox }
        const where = { ...change, details: { path: ['execution'], equals: execution } }
        if (!answer.began && (await tx.auditEntry.findFirst({ where }))) return
        await recordChange(tx, { ...change, person: person.id, details: { execution } })
      })
    res.type('json').end(answer.record)
  }
}
