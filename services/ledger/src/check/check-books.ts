import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '@gateway/database/client'
import { checkBudgets } from './check-budgets.ts'
import { checkJournalDays } from './check-journal-days.ts'
import { checkProductMonths, checkUsage } from './check-usage.ts'
import { checkWallet, walletsThatDiffer, walletsThatMoved } from './check-wallet.ts'
import type { Finding } from './fold-journal.ts'

export interface Report {
  wallets: number
  /** `project` is the organization for a budget, and `all projects` for sums over all of them. */
  findings: (Finding & { project: string })[]
}

interface Options {
  /** Fold every journal from its first entry instead of from the last checkpoint. */
  whole?: boolean
  /** Only these projects, whether they have moved or not. */
  projects?: string[]
  /** Called before each wallet; an error it throws ends the check. */
  before?: () => Promise<void>
  /** Called with an error that prevented a part of the check. Without it such an error ends the check. */
  failed?: (error: Error) => void
}

/**
 * Derives balances and counters again from the journal and reports every amount that does not add up. Checks each
 * wallet that has moved since its last check or has a finding, and those of the others whose hourly comparison differs.
 * Then compares the budgets that span them, unless only some projects are checked.
 * Usage hours and journal days are checked here only if `projects` or `whole` is set; otherwise recheck-wallets.ts
 * checks them in turn.
 */
export async function checkBooks(
  database: Pick<Database, 'prisma'>,
  { whole = false, projects, before = () => Promise.resolve(), failed }: Options = {},
): Promise<Report> {
  const wallets = projects ?? (whole ? await allWallets(database) : await walletsToCheck(database))
  const report: Report = { wallets: 0, findings: [] }
  const attempt = async (part: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      if (!failed) throw error
      failed(new Error(`check of ${part} failed`, { cause: error }))
    }
  }
  for (const project of wallets) {
    await before()
    await attempt(project, async () => {
      const found = await checkWallet(database, project, whole)
      if (whole || projects) {
        found.push(...(await checkUsage(database, project, whole ? 'hours' : 'sums')))
        found.push(...(await checkJournalDays(database, project, whole ? 'days' : 'sums')))
      }
      for (const finding of found) report.findings.push({ project, ...finding })
      report.wallets++
    })
    await nextTurn() // let pending calls run first
  }
  if (!projects)
    await attempt('budgets', async () => {
      for (const { tenant, ...finding } of await checkBudgets(database, wallets))
        report.findings.push({ project: tenant, ...finding })
    })
  if (whole && !projects)
    await attempt('product months', async () => {
      for (const finding of await checkProductMonths(database))
        report.findings.push({ project: 'all projects', ...finding })
    })
  return report
}

async function allWallets({ prisma }: Pick<Database, 'prisma'>): Promise<string[]> {
  const rows = await prisma.wallet.findMany({ select: { project: true }, orderBy: { project: 'asc' } })
  return rows.map(({ project }) => project)
}

async function walletsToCheck(database: Pick<Database, 'prisma'>): Promise<string[]> {
  const moved = await walletsThatMoved(database)
  const differing = await walletsThatDiffer(database)
  return [...new Set([...moved, ...differing])]
}

/** Formats a finding as one sentence. */
export function formatFinding({ project, what, where, expectedMicro, foundMicro }: Report['findings'][number]): string {
  return `${project}: ${where}: ${what}: expected ${expectedMicro}, found ${foundMicro} micro-USD`
}
