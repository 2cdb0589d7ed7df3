import type { CorrectionAnswer } from '@gateway/contracts/ledger-reads'
import { refuse, Refusal } from '@gateway/contracts/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { personOf } from '../sign-in/person.ts'

/**
 * POST …/projects/{p}/wallet/corrections: money that came in or was taken wrongly is put right, once per correction id;
 * the same again answers 200 and changes nothing. The audit row follows, also when a repeat has to write it.
 */
export function correctWallet({ prisma, ledger }: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'correctWallet'> {
  return async (call, res) => {
    const person = personOf(res)
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject({ prisma }, person, tenant, call.id('project'), 'wallet.correct')
    const { correctionId, micro, reason } = await call.body()
    const corrected = await ledger.correct({ project, correctionId, micro, reason, correctedBy: person.id })
    if (corrected.kind === 'short') throw tooMuch(corrected, -micro)
    if (corrected.micro !== micro || corrected.reason !== reason)
      throw refuse(
        'already_exists',
        { what: `The correction ${correctionId} of ${corrected.micro} micro-USD (${corrected.reason})` },
        { param: 'correctionId' },
      )
    await prisma.$transaction(async (tx) => {
      const change = { tenant, action: 'wallet.correct', subject: `${project}/${correctionId}` }
      if (!corrected.fresh && (await tx.auditEntry.findFirst({ where: change }))) return
      await recordChange(tx, { ...change, person: person.id, details: { project, correctionId, micro, reason } })
    })
    res.status(corrected.fresh ? 201 : 200).json(await ledger.wallet({ project }))
  }
}

function tooMuch(wallet: Extract<CorrectionAnswer, { kind: 'short' }>, neededMicro: number): Refusal {
  const { availableMicro, reservedMicro } = wallet
  return new Refusal(
    'insufficient_budget',
    `The wallet has ${availableMicro} micro-USD available, so ${neededMicro} can't be taken out of it.`,
    reservedMicro > 0
      ? `Take at most ${availableMicro}, or wait until running calls settle: they have reserved ${reservedMicro} micro-USD.`
      : `Take at most ${availableMicro}.`,
    { param: 'micro', details: { availableMicro, reservedMicro, neededMicro } },
  )
}
