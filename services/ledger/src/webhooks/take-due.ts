import { randomInt } from 'node:crypto'
import type { Deps } from '../deps.ts'
import type { NoticeRow } from './notice-body.ts'

// Which deliveries are posted next (money §10.2). It is asked each second by every replica, so:
//   T1  Where nothing is due it looks at one entry of an index, however many webhooks there are and whatever waits for later.
//   T2  Else it looks at a bounded number of the oldest that are due, and of the webhooks that have something on its way.
//   T3  Of each of these webhooks it takes some, webhooks in no order. One whose backlog is all that is oldest is one of many: others are
//       found by themselves, from the first place and from a place by chance in the order of their reversed ids.
//   T4  A delivery that is taken is due again when its try is lost. One whose webhook is gone is put off and never posted.

export interface TakenDelivery extends NoticeRow {
  webhook: string
  url: string
  secret_key: string
  /** With this one. */
  tries: number
}

/** How many are taken at once, at most. */
export const AT_ONCE = 32
const EACH_WEBHOOK = 8
const OLDEST = 512
const WEBHOOKS = 64

/** Takes deliveries that are due, to be posted. `lostMs`: after which they are due again. */
export function takeDue({ reads }: Pick<Deps, 'reads'>, lostMs: number): Promise<TakenDelivery[]> {
  const anyPlace = randomInt(36 ** 4)
    .toString(36)
    .padStart(4, '0')
  return reads.prisma.$queryRaw<TakenDelivery[]>`
    WITH RECURSIVE oldest AS MATERIALIZED (
      SELECT webhook FROM money.webhook_deliveries
       WHERE state = 'Pending' AND next_try_at <= now() ORDER BY next_try_at LIMIT ${OLDEST}::int
    ), others (place, looked) AS (
      SELECT place, 0 FROM (VALUES (''), (${anyPlace}::text)) starts (place) WHERE EXISTS (SELECT FROM oldest)
       UNION ALL
      SELECT next.place, others.looked + 1 FROM others CROSS JOIN LATERAL (
        SELECT reverse(webhook) AS place FROM money.webhook_deliveries
         WHERE state = 'Pending' AND reverse(webhook) > others.place ORDER BY reverse(webhook) LIMIT 1) next
       WHERE others.looked < ${WEBHOOKS}::int
    ), webhooks AS (
      SELECT webhook FROM oldest UNION SELECT reverse(place) FROM others WHERE looked > 0
    ), due AS MATERIALIZED (
      SELECT d.notice, d.webhook FROM (SELECT webhook FROM webhooks ORDER BY random()) w CROSS JOIN LATERAL (
        SELECT o.notice, o.webhook FROM money.webhook_deliveries o
         WHERE o.webhook = w.webhook AND o.state = 'Pending' AND o.next_try_at <= now()
         ORDER BY o.next_try_at LIMIT ${EACH_WEBHOOK}::int FOR UPDATE SKIP LOCKED) d
       LIMIT ${AT_ONCE}::int
    ), taken AS (
      UPDATE money.webhook_deliveries t
         SET tries = t.tries + 1, next_try_at = clock_timestamp() + ${lostMs}::int * interval '1 millisecond'
        FROM due WHERE t.notice = due.notice AND t.webhook = due.webhook
      RETURNING t.notice, t.webhook, t.tries)
    SELECT n.*, taken.webhook, taken.tries, w.url, w.secret_key
      FROM taken JOIN money.webhooks w ON w.id = taken.webhook JOIN money.notices n ON n.id = taken.notice`
}
