import type { Funding } from '@gateway/contracts/ledger-reads'
import type { Deps } from '../deps.ts'

/** Brings money into a project's wallet, once per funding id (decisions.md, 2). `micro` is what stands under that id. */
export async function fund(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { project, fundingId, micro, fundedBy }: Funding,
): Promise<{ fresh: boolean; micro: number }> {
  const [row] = await prisma.$queryRaw<[{ fresh: boolean; recorded: bigint }]>`
    SELECT fresh, recorded FROM money.fund_v1(${project}, ${fundingId}, ${micro}::bigint, ${fundedBy})`
  return { fresh: row.fresh, micro: Number(row.recorded) }
}
