import type { RequestOf } from '@gateway/contracts/ledger-operations'
import type { Deps } from '../deps.ts'

/**
 * Waits until every admission that may have read what was true before is over. A call that starts after this has answered
 * is decided by what is committed now (architecture §M2).
 *
 * Each wallet is locked and freed. Wallets that are free are passed together, which waits for nobody; for the others it
 * waits one by one, and keeps none meanwhile.
 */
export async function passBarrier(deps: Pick<Deps, 'reads'>, { projects }: RequestOf<'barrier'>): Promise<object> {
  await makeMissing(deps, projects)
  const left = new Set(projects)
  while (left.size > 0) {
    for (const project of await passFree(deps, [...left])) left.delete(project)
    const [kept] = left
    if (kept === undefined) break
    await waitFor(deps, kept)
    left.delete(kept)
  }
  return {}
}

/** An admission that is making the wallet of its project just now can't be seen, only waited for: by making it, too. */
async function makeMissing({ reads: { prisma } }: Pick<Deps, 'reads'>, projects: string[]): Promise<void> {
  const missing = await prisma.$queryRaw<{ project: string }[]>`
    SELECT DISTINCT p AS project FROM unnest(${projects}::text[]) p
     WHERE NOT EXISTS (SELECT FROM money.wallets w WHERE w.project = p)`
  for (const { project } of missing)
    await prisma.$executeRaw`INSERT INTO money.wallets (project) VALUES (${project}) ON CONFLICT DO NOTHING`
}

async function passFree({ reads: { prisma } }: Pick<Deps, 'reads'>, projects: string[]): Promise<string[]> {
  const passed = await prisma.$queryRaw<{ project: string }[]>`
    SELECT project FROM money.wallets WHERE project = ANY (${projects}::text[]) ORDER BY project FOR UPDATE SKIP LOCKED`
  return passed.map(({ project }) => project)
}

async function waitFor({ reads: { prisma } }: Pick<Deps, 'reads'>, project: string): Promise<void> {
  await prisma.$executeRaw`SELECT FROM money.wallets WHERE project = ${project} FOR UPDATE`
}
