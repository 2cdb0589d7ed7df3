import type { Database } from '@gateway/database/client'

type Transaction = Pick<Database['prisma'], '$queryRawUnsafe'>

/** Many times what a batch takes; an item that takes longer than this alone is not normal. */
const LIMIT_MS = 500

/** Runs a transaction whose statements have little time: what may stand still stands still briefly. */
export function inAHurry<T>(
  { prisma }: Pick<Database, 'prisma'>,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return prisma.$transaction(async (transaction) => {
    await transaction.$executeRawUnsafe(`SET LOCAL statement_timeout = ${LIMIT_MS}`)
    return work(transaction)
  })
}
