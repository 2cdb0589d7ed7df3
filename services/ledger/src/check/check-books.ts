import type { Database } from '@gateway/database/client'
import { checkUsage } from './check-usage.ts'
import { checkWallet } from './check-wallet.ts'
import type { Finding } from './fold-journal.ts'

export interface Report {
  wallets: number
  findings: (Finding & { project: string })[]
}

interface Options {
  /** Fold every journal from its first entry, instead of from where the last check ended. */
  whole?: boolean
  /** Only these projects. */
  projects?: string[]
}

/**
 * Derives every balance and counter again from the journal, wallet by wallet, and says which micro-USD does not add up.
 */
export async function checkBooks(
  database: Pick<Database, 'prisma'>,
  { whole = false, projects }: Options = {},
): Promise<Report> {
  const wallets =
    projects ??
    (await database.prisma.wallet.findMany({ select: { project: true }, orderBy: { project: 'asc' } })).map(
      (w) => w.project,
    )
  const findings: Report['findings'] = []
  const depth = whole ? 'hours' : projects ? 'sums' : 'position'
  for (const project of wallets) {
    const found = [...(await checkWallet(database, project, whole)), ...(await checkUsage(database, project, depth))]
    for (const finding of found) findings.push({ project, ...finding })
  }
  return { wallets: wallets.length, findings }
}

/** A finding as one sentence. */
export function sayFinding({ project, what, where, expectedMicro, foundMicro }: Report['findings'][number]): string {
  return `${project}: ${where}: ${what}: expected ${expectedMicro}, found ${foundMicro} micro-USD`
}
