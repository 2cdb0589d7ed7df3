import type { ConsoleDeps } from '../deps.ts'

/**
 * Up to which entry of its journal a project is rolled up (money §9.2), and from when on the entries behind it are. A
 * question reads the position again in its own view; this only tells Postgres beforehand how little lies behind:
 * else it would go through all of the journal, where a project is most of the books.
 */
export async function readRolledUp(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  project: string,
): Promise<{ seq: bigint; since: Date }> {
  const [known] = await prisma.$queryRaw<{ seq: bigint; since: Date }[]>`
    SELECT seq, at - interval '1 day' AS since FROM money.usage_positions WHERE project = ${project}`
  return known ?? { seq: 0n, since: new Date(0) }
}
