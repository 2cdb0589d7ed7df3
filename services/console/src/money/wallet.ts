import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { personOf } from '../sign-in/person.ts'
import { authorizeInProject } from '../permissions/authorize.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/projects/{p}/wallet, from the ledger: micro-USD. */
export function readWallet(deps: Deps): Handler<'readWallet'> {
  const { ledger } = deps
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps, personOf(res), tenant, call.id('project'), 'wallet.read')
    res.json(await ledger.wallet({ project }))
  }
}

/**
 * POST …/projects/{p}/wallet/fundings: money comes in, once per funding id; the same again answers 200 and changes nothing.
 * The ledger moves the money and remembers who brought it. The audit row follows, also when a repeat has to write it.
 */
export function fundWallet(deps: Deps): Handler<'fundWallet'> {
  const { prisma, ledger } = deps
  return async (call, res) => {
    const person = personOf(res)
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps, person, tenant, call.id('project'), 'wallet.fund')
    const { fundingId, micro } = await call.body()
    const funded = await ledger.fund({ project, fundingId, micro, fundedBy: person.id })
    if (funded.micro !== micro)
      throw refuse(
        'already_exists',
        { what: `The funding ${fundingId} of ${funded.micro} micro-USD` },
        { param: 'fundingId' },
      )
    await prisma.$transaction(async (tx) => {
      const change = { tenant, action: 'wallet.fund', subject: `${project}/${fundingId}` }
      if (!funded.fresh && (await tx.auditEntry.findFirst({ where: change }))) return
      await recordChange(tx, { ...change, person: person.id, details: { project, fundingId, micro } })
    })
    res.status(funded.fresh ? 201 : 200).json(await ledger.wallet({ project }))
  }
}
