import { inTurns } from '@gateway/service-kit/async/in-turns'
import { refusalFor } from '@gateway/contracts/ledger-refusal'
import { estimate } from '@gateway/flow/estimate'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { requireJsonWithinLimits } from '../request/json-limits.ts'
import { reachSandbox } from '../sandboxes/reach-sandbox.ts'

/** POST …/sandboxes/{s}/estimate: what an execution with this input would be charged at most (money §7.6). Begins nothing. */
export function estimateSandbox(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'estimateSandbox'> {
  return async (call, res) => {
    const { person, project, sandbox } = await reachSandbox(deps, call, res)
    const { input, revision } = await call.body()
    requireJsonWithinLimits(input, 'input')
    const caller = { person: person.id, project }
    const facts = await deps.ledger.estimateSandbox({ caller, sandbox: sandbox.id, revision, input })
    if ('refused' in facts) throw refusalFor(facts.refused, 'console')
    res.json(await inTurns(estimate(facts)))
  }
}
