import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Database } from '@gateway/database/client'
import { checkJournalDays } from './check-journal-days.ts'
import { checkUsage } from './check-usage.ts'
import { checkWallet, walletsThatDiffer, walletsThatMoved } from './check-wallet.ts'
import type { Finding } from './fold-journal.ts'

export interface Report {
  wallets: number
  findings: (Finding & { project: string })[]
}

interface Options {
  /** Fold every journal from its first entry, instead of from where the last check ended. */
  whole?: boolean
  /** Only these projects, whether they have moved or not. */
  projects?: string[]
  /** Called before each wallet; what it throws ends the check. */
  before?: () => Promise<void>
}

/**
 * Derives balances and counters again from the journal, and says which micro-USD does not add up: of each wallet that has
 * moved since it was last checked or has a finding, and of the others once an hour, as long as they can't all differ. The
 * hours of usage and the days of the journal are checked where projects are named, or the whole; else some by some
 * (recheck-wallets.ts).
 */
export async function checkBooks(
  database: Pick<Database, 'prisma'>,
  { whole = false, projects, before = () => Promise.resolve() }: Options = {},
): Promise<Report> {
  const wallets = projects ?? (whole ? await allWallets(database) : await walletsToCheck(database))
  const report: Report = { wallets: 0, findings: [] }
  for (const project of wallets) {
    await before()
    const found = await checkWallet(database, project, whole)
    if (whole || projects) {
      found.push(...(await checkUsage(database, project, whole ? 'hours' : 'sums')))
      found.push(...(await checkJournalDays(database, project, whole ? 'days' : 'sums')))
    }
    for (const finding of found) report.findings.push({ project, ...finding })
    report.wallets++
    await nextTurn() // calls that came meanwhile go first
  }
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

/** A finding as one sentence. */
export function formatFinding({ project, what, where, expectedMicro, foundMicro }: Report['findings'][number]): string {
  return `${project}: ${where}: ${what}: expected ${expectedMicro}, found ${foundMicro} micro-USD`
}
