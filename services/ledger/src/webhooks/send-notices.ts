import type { Deps } from '../deps.ts'
import { noticeBody } from './notice-body.ts'
import { postNotice, type Posted } from './post-notice.ts'
import { signNotice } from './sign-notice.ts'
import { AT_ONCE, takeDue, type TakenDelivery } from './take-due.ts'

// Deliveries of notices to webhooks (money §10.2). Any replica may do it; rows say what is whose.
//   D1  At least once: a delivery that is taken is due again a little later than its try may last, whoever dies.
//   D2  The same id and the same body at each try.
//   D3  Some of each webhook at a time (take-due.ts), and a try has a time limit: so those that are slow, fail again and again, or have
//       much to be posted keep nobody waiting for long.
//   D4  No connection is held while something is posted, and none but maintenance's is used.

type Needed = Pick<Deps, 'reads' | 'metrics' | 'webhookSettings'>

const POST_MS = 8_000
const LOST_MS = POST_MS + 2_000
/** One turn ends after so long, so that a stop does not wait for all that is due. */
const TURN_MS = 5_000
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** After each failed try; after the last one it is dead. */
const BACK_OFF_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]
/** Its owner says that it is gone for ever. */
const GONE = 410

/** Posts what is due. Answers how that went. */
export async function sendNotices(deps: Needed, backOffMs = BACK_OFF_MS): Promise<Record<string, number>> {
  const counts = { delivered: 0, failed: 0, dead: 0 }
  if (deps.webhookSettings.key === null) return counts
  const endsMs = performance.now() + TURN_MS
  for (let taken = AT_ONCE; taken > 0 && performance.now() < endsMs;) {
    const due = await takeDue(deps, LOST_MS) // D1, D3
    taken = due.length
    const outcomes = await Promise.all(due.map((one) => deliver(deps, one, backOffMs)))
    for (const outcome of outcomes) counts[outcome]++
  }
  return counts
}

async function deliver(deps: Needed, taken: TakenDelivery, backOffMs: readonly number[]): Promise<Outcome> {
  const { secretOf, privateAddresses } = deps.webhookSettings
  const secret = secretOf({ id: taken.webhook, secretKey: taken.secret_key })
  const body = noticeBody(taken)
  const posted: Posted =
    secret === null
      ? { error: 'key_missing' }
      : await postNotice(taken.url, signNotice(secret, { id: taken.id, body, nowMs: Date.now() }), body, {
          timeoutMs: POST_MS,
          privateAddresses,
        })
  const outcome = outcomeOf(posted, taken.tries, backOffMs)
  await record(deps, taken, posted, outcome, backOffMs)
  deps.metrics.posted(outcome)
  return outcome
}

type Outcome = 'delivered' | 'failed' | 'dead'

function outcomeOf(posted: Posted, tries: number, backOffMs: readonly number[]): Outcome {
  const status = 'status' in posted ? posted.status : 0
  if (status >= 200 && status < 300) return 'delivered'
  return status === GONE || tries > backOffMs.length ? 'dead' : 'failed'
}

/** A try that was given up for lost may still deliver it; it does not undo a later one. */
async function record(
  { reads }: Needed,
  { id, webhook, tries }: TakenDelivery,
  posted: Posted,
  outcome: Outcome,
  backOffMs: readonly number[],
): Promise<void> {
  const [status, error] = 'status' in posted ? [posted.status, null] : [null, posted.error]
  const state = { delivered: 'Delivered', failed: 'Pending', dead: 'Dead' }[outcome]
  await reads.prisma.$executeRaw`
    UPDATE money.webhook_deliveries
       SET state = ${state}, status = ${status}::int, error = ${error},
           next_try_at = clock_timestamp() + ${backOffMs[tries - 1] ?? 0}::int * interval '1 millisecond',
           ended_at = CASE WHEN ${state} <> 'Pending' THEN clock_timestamp() END
     WHERE notice = ${id} AND webhook = ${webhook} AND state = 'Pending' AND (${state} = 'Delivered' OR tries = ${tries}::int)`
}
