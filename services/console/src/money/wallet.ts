import { Refusal, refuse } from '@gateway/api/refusal'
import { usd } from '@gateway/pricing/usd'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { inProject } from '../permissions/authorize.ts'
import type { CorrectionAnswer } from '@gateway/ledger-protocol/ledger-reads'
import type { FundingRecord } from '@gateway/api/console/statement'
import { Prisma } from '@gateway/database/client'
import { pageOf, unknownCursor } from '../request/page.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/projects/{p}/wallet, from the ledger: micro-USD. */
export function readWallet(deps: Deps): Handler<'readWallet'> {
  const { ledger } = deps
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'wallet.read')
    res.json(await ledger.wallet({ project }))
  }
}

/**
 * POST …/projects/{p}/wallet/fundings: funds the wallet once per funding ID; a repeated request gets 200 and changes
 * nothing. The ledger moves the money and records the user. The audit row follows; a repeated request writes it if it
 * is missing.
 */
export function fundWallet(deps: Deps): Handler<'fundWallet'> {
  const { prisma, ledger } = deps
  return async (call, res) => {
    const { user, tenant, project } = await inProject(deps.prisma, call, res, 'wallet.fund')
    const { fundingId, micro } = await call.body()
    const funded = await ledger.fund({ project, fundingId, micro, fundedBy: user.id })
    if (funded.micro !== micro)
      throw refuse(
        'already_exists',
        { what: `The funding ${fundingId} of ${usd(funded.micro)}` },
        { param: 'fundingId' },
      )
    await prisma.$transaction(async (tx) => {
      const change = { tenant, action: 'wallet.fund' as const, subject: `${project}/${fundingId}` }
      if (!funded.fresh && (await tx.auditEntry.findFirst({ where: change }))) return
      await recordChange(tx, { ...change, user: user.id, details: { project, fundingId, micro } })
    })
    res.status(funded.fresh ? 201 : 200).json(await ledger.wallet({ project }))
  }
}

/**
 * POST …/projects/{p}/wallet/corrections: corrects a wrong funding or charge once per correction ID; a repeated request
 * gets 200 and changes nothing. The audit row follows; a repeated request writes it if it is missing.
 */
export function correctWallet({ prisma, ledger }: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'correctWallet'> {
  return async (call, res) => {
    const { user, tenant, project } = await inProject(prisma, call, res, 'wallet.correct')
    const { correctionId, micro, reason } = await call.body()
    const corrected = await ledger.correct({ project, correctionId, micro, reason, correctedBy: user.id })
    if (corrected.kind === 'short') throw tooMuch(corrected, -micro)
    if (corrected.micro !== micro || corrected.reason !== reason)
      throw refuse(
        'already_exists',
        { what: `The correction ${correctionId} of ${usd(corrected.micro)} (${corrected.reason})` },
        { param: 'correctionId' },
      )
    await prisma.$transaction(async (tx) => {
      const change = { tenant, action: 'wallet.correct' as const, subject: `${project}/${correctionId}` }
      if (!corrected.fresh && (await tx.auditEntry.findFirst({ where: change }))) return
      await recordChange(tx, { ...change, user: user.id, details: { project, correctionId, micro, reason } })
    })
    res.status(corrected.fresh ? 201 : 200).json(await ledger.wallet({ project }))
  }
}

function tooMuch(wallet: Extract<CorrectionAnswer, { kind: 'short' }>, neededMicro: number): Refusal {
  const { availableMicro, reservedMicro } = wallet
  return new Refusal(
    'insufficient_budget',
    `The wallet has ${usd(availableMicro)} available, so ${usd(neededMicro)} can't be debited.`,
    reservedMicro > 0
      ? `Debit at most ${usd(availableMicro)}, or wait until running calls settle: they have reserved ${usd(reservedMicro)}.`
      : `Debit at most ${usd(availableMicro)}.`,
    { param: 'micro', details: { availableMicro, reservedMicro, neededMicro } },
  )
}

/** GET …/projects/{p}/fundings: fundings and corrections, newest first. They are kept permanently. */
export function listFundings(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listFundings'> {
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'wallet.read')
    const { cursor, limit } = call.query()
    const before = cursor === undefined ? null : readCursor(cursor)
    // Each half is limited to one page before the union, so only the newest rows are read.
    const half = (kind: string, columns: Prisma.Sql, table: Prisma.Sql) => Prisma.sql`
      (SELECT * FROM (SELECT ${kind}::text AS kind, ${columns}, micro, at FROM ${table} WHERE project = ${project}) each
        WHERE ${before === null ? Prisma.sql`true` : Prisma.sql`at <= ${before.at} AND (at, kind, id) < (${before.at}, ${before.kind}, ${before.id})`}
        ORDER BY at DESC, id DESC LIMIT ${limit + 1})`
    const rows = await deps.prisma.$queryRaw<(Omit<FundingRecord, 'micro' | 'at'> & { micro: bigint; at: Date })[]>`
      SELECT f.*, (SELECT u.name FROM control.users u WHERE u.id = f.user) AS "userName" FROM (
      ${half('funding', Prisma.sql`funding_id AS id, funded_by AS user, NULL AS reason`, Prisma.sql`money.fundings`)}
      UNION ALL
      ${half('correction', Prisma.sql`correction_id AS id, corrected_by AS user, reason`, Prisma.sql`money.corrections`)}
      ORDER BY at DESC, kind DESC, id DESC LIMIT ${limit + 1}) f`
    const records = rows.map(({ id, kind, micro, reason, user, userName, at }) => ({
      id,
      kind,
      micro: Number(micro),
      reason,
      user,
      userName,
      at: at.toISOString(),
    }))
    res.json(pageOf(records, limit, ({ at, kind, id }) => `${Date.parse(at)}.${kind}.${id}`))
  }
}

/** The cursor includes the kind, because a funding and a correction can have the same ID. */
function readCursor(cursor: string): { at: Date; kind: string; id: string } {
  const [, ms, kind, id] = /^(\d{1,15})\.(funding|correction)\.(.+)$/.exec(cursor) ?? []
  if (ms === undefined || kind === undefined || id === undefined) throw unknownCursor()
  return { at: new Date(Number(ms)), kind, id }
}
