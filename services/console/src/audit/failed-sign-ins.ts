import type { Prisma } from '@gateway/database/client'
import type { ConsoleDeps } from '../deps.ts'
import { addressBlock } from '@gateway/service-kit/http/connections'
import { recordChange, currentOrigin } from './record-change.ts'

// Failed attempts to sign in, in the audit without filling it.
//   W1  An attempt only counts, by hour, user and block of addresses, with the same statement for every email: it takes
//       the same time whether the email has a user or not.
//   W2  An hour has at most MAX_COUNTS counts. Further attempts are counted together.
//   W3  Each count becomes at most two entries: one within seconds, and one with the number when the hour is over.
//   W4  Emails without a user are not stored: people type passwords into the wrong field.

type Deps = Pick<ConsoleDeps, 'prisma'>

const MAX_COUNTS = 5_000
const BATCH = 25

/** Counts a failed attempt. @param user null: no user has the email */
export async function countFailedSignIn({ prisma }: Deps, user: string | null, maxCounts = MAX_COUNTS): Promise<void> {
  const { address, device } = currentOrigin()
  await prisma.$executeRaw`
    WITH asked AS (
      SELECT date_trunc('hour', now()) AS hour, ${user ?? ''} AS user_id, ${addressBlock(address ?? '')} AS address
    ), known AS (
      SELECT EXISTS (SELECT FROM control.failed_sign_ins f
                      WHERE (f.hour, f.user_id, f.address) = (a.hour, a.user_id, a.address))
             OR (SELECT count(*) FROM (SELECT FROM control.failed_sign_ins f WHERE f.hour = a.hour
                                        LIMIT ${maxCounts}::int) c) < ${maxCounts}::int AS fits
        FROM asked a
    )
    INSERT INTO control.failed_sign_ins AS f (hour, user_id, address, device, last_at)
    SELECT a.hour,
           CASE WHEN k.fits THEN a.user_id ELSE '' END,
           CASE WHEN k.fits THEN a.address ELSE '' END,
           CASE WHEN k.fits THEN ${device} END,
           now()
      FROM asked a, known k
    ON CONFLICT (hour, user_id, address) DO UPDATE SET count = f.count + 1, last_at = now()`
}

interface Count {
  hour: Date
  user_id: string
  address: string
  device: string | null
  count: number
  reported: number
  is_over: boolean
}

/** Writes audit entries for a batch of counts. Returns the number of counts. */
export async function reportFailedSignIns({ prisma }: Deps): Promise<number> {
  return prisma.$transaction(async (tx) => {
    const counts = await tx.$queryRaw<Count[]>`
      SELECT hour, user_id, address, device, count, reported, hour < date_trunc('hour', now()) AS is_over
        FROM control.failed_sign_ins
       WHERE reported = 0 OR hour < date_trunc('hour', now())
       ORDER BY hour, user_id, address
       LIMIT ${BATCH}::int
         FOR UPDATE SKIP LOCKED`
    for (const each of counts) await report(tx, each)
    return counts.length
  })
}

async function report(tx: Prisma.TransactionClient, each: Count): Promise<void> {
  const { hour, user_id: id, address, device, count, reported } = each
  const user = id || null
  if (count !== reported)
    await recordChange(tx, {
      tenant: null,
      user,
      action: 'session.create',
      subject: user ?? 'unknown',
      details: { count, hour: hour.toISOString() },
      outcome: 'refused',
      origin: { request: null, address: address || null, device },
    })
  const where = { hour_user_address: { hour, user: id, address } }
  if (each.is_over) await tx.failedSignIn.delete({ where })
  else await tx.failedSignIn.update({ where, data: { reported: count } })
}
