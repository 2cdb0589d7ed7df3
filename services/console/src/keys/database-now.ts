import type { Transaction } from '../audit/record-change.ts'

/** The database's clock, which decides about every key's life: a console whose clock is wrong changes nothing. */
export async function databaseNow(prisma: Transaction): Promise<Date> {
  const [row] = await prisma.$queryRaw<[{ now: Date }]>`SELECT clock_timestamp()::timestamptz(3) AS now`
  return row.now
}
