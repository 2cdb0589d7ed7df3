import type { RequestOf } from '@gateway/contracts/ledger-operations'
import type { Deps } from '../deps.ts'

/**
 * Waits until every admission that may have read what was true before is over: locks the wallets in id order, and frees
 * them. A call that starts after this has answered is decided by what is committed now (architecture §M2).
 * A wallet that does not exist is made first: an admission that is making it just now can't be seen, only waited for.
 */
export async function passBarrier(
  { locking: { prisma } }: Pick<Deps, 'locking'>,
  { projects }: RequestOf<'barrier'>,
): Promise<object> {
  await prisma.$executeRaw`
    INSERT INTO money.wallets (project) SELECT p FROM unnest(${projects.toSorted()}::text[]) p ON CONFLICT DO NOTHING`
  await prisma.$executeRaw`SELECT FROM money.wallets WHERE project = ANY (${projects}::text[]) ORDER BY project FOR UPDATE`
  return {}
}
