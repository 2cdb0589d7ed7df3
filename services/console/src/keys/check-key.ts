import { composeCheck, readCheck } from '@gateway/contracts/admission-check'
import { refuse } from '@gateway/contracts/refusal'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import { visibleKeys } from '../permissions/visible-keys.ts'
import type { Handler } from '../request/call.ts'
import { personOf } from '../sign-in/person.ts'

/**
 * POST …/keys/{k}/check: would a call with this key be admitted now? (rules §2.10) For those who see the key and may read the wallet
 * of its project, since a refusal tells what is in it. The prompt is not counted here.
 */
export function checkKey(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'checkKey'> {
  return async (call, res) => {
    const [person, tenant, id] = [personOf(res), call.id('tenant'), call.id('key')]
    const visible = await visibleKeys(deps, person, tenant)
    const key = await deps.prisma.key.findFirst({ where: { AND: [visible, { id }] }, select: { project: true } })
    if (!key) throw refuse('not_found', {})
    if (key.project !== null) await authorizeInProject(deps, person, tenant, key.project, 'wallet.read')
    const checked = readCheck(await call.body())
    const { request: _, ...asked } = checked
    res.json(composeCheck(checked, await deps.ledger.checkAdmission({ caller: { key: id }, ...asked })))
  }
}
