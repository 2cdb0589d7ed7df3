import { idempotencyKeyLimits } from '@gateway/contracts/limits'
import { callFunction } from '@gateway/database/call-function'
import type { Database } from '@gateway/database/client'

const DAYS_AHEAD = 2
const AT_ONCE = 1_000

/** Drops saved answers, idempotency keys and runs whose retention is over, and instances that ended long ago; makes tomorrow's partitions. */
export function forgetOld({ prisma }: Pick<Database, 'prisma'>): () => Promise<void> {
  return async () => {
    await callFunction(prisma, 'money.keep_answer_partitions_v1', {
      days_ahead: DAYS_AHEAD,
      days_kept: idempotencyKeyLimits.keptDays,
    })
    for (let forgotten = AT_ONCE; forgotten === AT_ONCE;) {
      // A key whose call is still open is kept, however old.
      forgotten = await prisma.$executeRaw`
        DELETE FROM money.idempotency_keys WHERE (project, scope, key) IN (
          SELECT project, scope, key FROM money.idempotency_keys k
           WHERE created_at < clock_timestamp() - ${idempotencyKeyLimits.keptDays}::int * interval '1 day'
             AND NOT EXISTS (SELECT FROM money.reservations r WHERE r.id = k.reservation)
           LIMIT ${AT_ONCE}::int)`
    }
    for (let forgotten = AT_ONCE; forgotten === AT_ONCE;) {
      // Its nodes go with it. What its calls were charged stays on the books.
      forgotten = await prisma.$executeRaw`
        DELETE FROM money.executions WHERE id IN (
          SELECT id FROM money.executions
           WHERE completed_at < clock_timestamp() - ${idempotencyKeyLimits.keptDays}::int * interval '1 day'
           LIMIT ${AT_ONCE}::int)`
    }
    await prisma.$executeRaw`
      DELETE FROM money.instances h WHERE ended_at < clock_timestamp() - interval '1 day'
         AND NOT EXISTS (SELECT FROM money.reservations r WHERE r.instance = h.id)`
  }
}
