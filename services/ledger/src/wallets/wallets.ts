import type { Correction, CorrectionAnswer, Funding, WalletAnswer } from '@gateway/ledger-protocol/ledger-reads'
import type { RequestOf } from '@gateway/ledger-protocol/ledger-operations'
import { accessTopicOf } from '@gateway/ledger-protocol/flow-reads'
import type { Deps } from '../deps.ts'
import { callFunction } from '@gateway/database/call-function'

/** Returns the balances of a project; a wallet that was never funded is zero. */
export async function readWallet(
  { reads }: Pick<Deps, 'reads'>,
  { project }: RequestOf<'wallet'>,
): Promise<WalletAnswer> {
  const wallet = await reads.prisma.wallet.findUnique({ where: { project } })
  const [funded, reserved, settled] = [wallet?.funded ?? 0n, wallet?.reserved ?? 0n, wallet?.settled ?? 0n]
  return {
    fundedMicro: Number(funded),
    reservedMicro: Number(reserved),
    settledMicro: Number(settled),
    availableMicro: Number(funded - reserved - settled),
  }
}

/**
 * Funds a project's wallet, once per funding id (money §5.2). `micro` is the amount recorded under that id.
 */
export async function fund(
  { reads }: Pick<Deps, 'reads'>,
  { project, fundingId, micro, fundedBy }: Funding,
): Promise<{ fresh: boolean; micro: number }> {
  const { fresh, recorded } = await callFunction(reads.sql, 'money.fund', {
    to_project: project,
    funding: fundingId,
    amount_micro: micro,
    by_user: fundedBy,
  })
  return { fresh, micro: Number(recorded) }
}

/**
 * Corrects a wallet by a signed amount, once per correction id (money §5.4). `micro` and `reason` are those recorded
 * under that id. `short`: it would take more than is available, so nothing was done.
 */
export async function correct(
  { reads }: Pick<Deps, 'reads'>,
  { project, correctionId, micro, reason, correctedBy }: Correction,
): Promise<CorrectionAnswer> {
  const row = await callFunction(reads.sql, 'money.correct', {
    of_project: project,
    correction: correctionId,
    amount_micro: micro,
    why: reason,
    by_user: correctedBy,
  })
  if (row.outcome === 'short')
    return { kind: 'short', availableMicro: Number(row.available), reservedMicro: Number(row.reserved) }
  const [recorded, words] = [Number(row.recorded), row.recorded_reason!]
  return { kind: 'corrected', fresh: row.outcome === 'corrected', micro: recorded, reason: words }
}

/**
 * Waits until every admission and every start of an execution that may have read earlier state is over. What is admitted
 * after this has returned is decided by what is committed now (architecture §M2).
 *
 * Followers of executions are notified before it returns: they get no line that is sent later without being authorized
 * again.
 *
 * Each wallet is locked and freed. Free wallets are passed together, which waits for no one; the others are waited for
 * in sequence, holding none meanwhile.
 */
export async function passBarrier(
  deps: Pick<Deps, 'reads' | 'notifier'>,
  { projects }: RequestOf<'barrier'>,
): Promise<object> {
  await makeMissing(deps, projects)
  const left = new Set(projects)
  while (left.size > 0) {
    for (const project of await passFree(deps, [...left])) left.delete(project)
    const [kept] = left
    if (kept === undefined) break
    await waitFor(deps, kept)
    left.delete(kept)
  }
  await passStarts(deps, projects)
  for (const project of projects) deps.notifier.notify(accessTopicOf(project))
  await deps.notifier.sent()
  return {}
}

/** An admission that is creating the wallet of its project cannot be seen, only waited for: by creating it, too. */
async function makeMissing({ reads: { prisma } }: Pick<Deps, 'reads'>, projects: string[]): Promise<void> {
  const missing = await prisma.$queryRaw<{ project: string }[]>`
    SELECT DISTINCT p AS project FROM unnest(${projects}::text[]) p
     WHERE NOT EXISTS (SELECT FROM money.wallets w WHERE w.project = p)`
  for (const { project } of missing) await prisma.wallet.createMany({ data: { project }, skipDuplicates: true })
}

async function passFree({ reads: { prisma } }: Pick<Deps, 'reads'>, projects: string[]): Promise<string[]> {
  const passed = await prisma.$queryRaw<{ project: string }[]>`
    SELECT project FROM money.wallets WHERE project = ANY (${projects}::text[]) ORDER BY project FOR UPDATE SKIP LOCKED`
  return passed.map(({ project }) => project)
}

async function waitFor({ reads: { prisma } }: Pick<Deps, 'reads'>, project: string): Promise<void> {
  await prisma.$executeRaw`SELECT FROM money.wallets WHERE project = ${project} FOR UPDATE`
}

/** Number of projects whose starts are locked together, each with one lock of the database's shared table. */
const PROJECTS_PER_STATEMENT = 100

/** Waits for the starts that are being written, which hold this lock shared (write_starts.sql). Free locks wait for no one. */
async function passStarts({ reads: { prisma } }: Pick<Deps, 'reads'>, projects: string[]): Promise<void> {
  for (let at = 0; at < projects.length; at += PROJECTS_PER_STATEMENT) {
    const kept = await prisma.$queryRaw<{ project: string }[]>`
      SELECT p AS project FROM unnest(${projects.slice(at, at + PROJECTS_PER_STATEMENT)}::text[]) p
       WHERE NOT pg_try_advisory_xact_lock(hashtext('money.starts'), hashtext(p))`
    for (const { project } of kept)
      await prisma.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('money.starts'), hashtext(${project}))`
  }
}
