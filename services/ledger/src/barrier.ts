import type { Database } from '@gateway/database/client'

/**
 * Waits until every admission that may have read what was true before is over: locks the wallets in id order, and frees
 * them. A call that starts after this has answered is decided by what is committed now (architecture.md, money core 2).
 */
export function passBarrier({ prisma }: Pick<Database, 'prisma'>) {
  return async (projects: string[]): Promise<object> => {
    await prisma.$executeRaw`SELECT FROM money.wallets WHERE project = ANY (${projects}::text[]) ORDER BY project FOR UPDATE`
    return {}
  }
}
