import type { RequestHandler } from 'express'
import { fundingBody } from '@gateway/contracts/console'
import { refuse } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../needs.ts'
import { checkedBody, pathIdOf } from '../receive/check.ts'
import type { Authorize } from '../permissions/authorize.ts'
import { personOf } from '../sign-in/person.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'> & { authorize: Authorize }

/** GET …/projects/{p}/wallet, from the ledger: micro-USD. */
export function readWallet({ ledger, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(personOf(res), tenant, pathIdOf(req, 'project'), 'wallet.read')
    res.json(await ledger.wallet({ project }))
  }
}

/**
 * POST …/projects/{p}/wallet/fundings: money comes in, once per funding id; the same again answers 200 and changes nothing.
 * The ledger moves the money and remembers who brought it. The audit row follows, also when a repeat has to write it.
 */
export function fundWallet({ prisma, ledger, authorize }: Deps): RequestHandler {
  return async (req, res) => {
    const person = personOf(res)
    const tenant = pathIdOf(req, 'tenant')
    const { id: project } = await authorize.inProject(person, tenant, pathIdOf(req, 'project'), 'wallet.fund')
    const { fundingId, micro } = await checkedBody(req, fundingBody)
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
