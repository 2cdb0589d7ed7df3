import { idempotencyKeyLimits } from '@gateway/contracts/limits'
import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'

const DAYS_AHEAD = 2
const MAX_ROWS = 1_000
const { keptDays } = idempotencyKeyLimits

/**
 * Drops saved answers, idempotency keys and executions whose retention is over, and instances that ended long ago;
 * makes tomorrow's partitions.
 */
export async function cleanRetention({ maintenance: { prisma } }: Pick<Deps, 'maintenance'>) {
  await callFunction(prisma, 'money.keep_answer_partitions_v1', { days_ahead: DAYS_AHEAD, days_kept: keptDays })
  // A key whose call is still open is kept, however old.
  const idempotencyKeys = await deleteInParts(
    () => prisma.$executeRaw`
      DELETE FROM money.idempotency_keys WHERE (project, scope, key) IN (
        SELECT project, scope, key FROM money.idempotency_keys k
         WHERE created_at < clock_timestamp() - ${keptDays}::int * interval '1 day'
           AND NOT EXISTS (SELECT FROM money.reservations r WHERE r.id = k.reservation)
         LIMIT ${MAX_ROWS}::int)`,
  )
  // Its nodes go with it. What its calls were charged stays on the books.
  const executions = await deleteInParts(
    () => prisma.$executeRaw`
      DELETE FROM money.executions WHERE id IN (
        SELECT id FROM money.executions
         WHERE completed_at < clock_timestamp() - ${keptDays}::int * interval '1 day'
         LIMIT ${MAX_ROWS}::int)`,
  )
  const instances = await prisma.$executeRaw`
    DELETE FROM money.instances i WHERE ended_at < clock_timestamp() - interval '1 day'
       AND NOT EXISTS (SELECT FROM money.reservations r WHERE r.instance = i.id)`
  return { idempotencyKeys, executions, instances }
}

async function deleteInParts(deletePart: () => Promise<number>): Promise<number> {
  let deleted = 0
  for (let part = MAX_ROWS; part === MAX_ROWS; deleted += part) part = await deletePart()
  return deleted
}
