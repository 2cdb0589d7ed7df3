import { refuse } from '@gateway/contracts/refusal'
import { mayUseSandboxes } from '../permissions/authorize.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { authenticated } from '../sign-in/authenticate.ts'
import { personOf } from '../sign-in/person.ts'
import { followExecution as progressOf } from './follow-execution.ts'
import { sendProgress } from './send-progress.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'stopping' | 'now' | 'publicUrl'>

/**
 * GET …/projects/{p}/executions/{e}/progress: the lines of an execution behind `after`, whoever began it (flows §4.4).
 * @throws Refusal `execution_not_found`
 */
export function followExecution(deps: Deps): Handler<'followExecution'> {
  return async (call, res) => {
    const [tenant, project, execution] = [call.id('tenant'), call.id('project'), call.id('execution')]
    const mayFollow = async (person: Parameters<typeof mayUseSandboxes>[1]) => {
      if (!(await mayUseSandboxes(deps, person, tenant, project))) throw refuse('execution_not_found', { execution })
    }
    await mayFollow(personOf(res))
    const followed = { project, execution, after: call.query().after }
    const authorize = async () => mayFollow(await authenticated(deps, call.req))
    await sendProgress(deps, res, (disconnected) => progressOf(deps, followed, authorize, disconnected))
  }
}
