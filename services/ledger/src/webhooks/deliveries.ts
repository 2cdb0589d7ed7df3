import { createHmac, randomInt } from 'node:crypto'
import {
  type DeliveriesQuestion,
  type DeliveryCounts,
  type DeliveryRecord,
  POST_MS,
  type Posted,
  type TakenDelivery,
  type TakenMail,
  type SendAnswer,
  type WebhookTest,
} from '@gateway/ledger-protocol/ledger-reads'
import type { Deps } from '../deps.ts'
import { type NamedNotice, noticeText } from '../notices/notice-text.ts'
import { type EarlierSecret, stillSigning } from './webhooks.ts'

// Deliveries of notices (money §10.2). Workers post them, and consoles, which have the mail server, mail them: the ledger,
// which holds the books, connects to no address of a user. Any of them may take any delivery of its channel; rows record
// which ones are taken.
//   D1  At least once: a delivery that is taken is due again a little later than its try may last, whichever process
//       dies.
//   D2  Every try has the same id and the same body.
//   D3  Some of each webhook, project and host at a time, and a time limit for each try: webhooks that are slow, keep
//       failing, or have a large backlog delay no other project.
//   D4  No connection is held during a POST, and only maintenance's connections are used.
//   D5  A worker gets the signatures of each try, never a secret: one by the newest secret, and one by each earlier
//       secret whose grace has not ended. They are computed when the delivery is taken. A receiver that has only one of
//       these secrets accepts it; a try that was signed just before a rotation is repeated with the new one.
//   D6  The first delivery that is given up, or that cannot be signed, marks its webhook as failing and notifies the
//       project, through the other webhooks too. The next one that is accepted removes the mark.
//   D7  Slack gets the text alone, unsigned: anyone who has the address can post there.

type Needed = Pick<Deps, 'reads' | 'metrics' | 'webhookSettings'>

/** The rest is for taking and recording. */
const LOST_MS = POST_MS + 7_000
/** A mail server may take some seconds for each step. */
const MAIL_LOST_MS = 120_000
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Delay after each failed try; after the last one the delivery is dead. */
const BACK_OFF_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR]
/** Status by which the owner says that the address is gone permanently. */
const GONE = 410

/** Takes deliveries that are due, signed. One whose secret is gone fails here. */
export async function takeDeliveries(
  deps: Needed,
  question: DeliveriesQuestion,
): Promise<{ deliveries: TakenDelivery[] }> {
  const { privateAddresses, publicUrl, secretOf } = deps.webhookSettings
  const deliveries: TakenDelivery[] = []
  for (const due of await takeDue(deps, POSTS, question, LOST_MS)) {
    // D1, D3
    const { id: notice, webhook, tries, url } = due
    const toPost = { notice, webhook, tries, url: url!, privateAddresses }
    if (due.to === 'slack') {
      deliveries.push({ ...toPost, headers: {}, body: slackBody(due, publicUrl) }) // D7
      continue
    }
    const secret = secretOf({ id: webhook, secretKey: due.secret_key, generation: due.generation })
    if (secret === null) {
      await record(deps, { notice, webhook, tries }, { error: 'key_missing' }, BACK_OFF_MS)
      continue
    }
    const earlier = stillSigning(due.earlier_secrets, due.now).flatMap(
      (each) => secretOf({ id: webhook, ...each }) ?? [],
    )
    const body = noticeBody(due)
    const headers = signNotice([secret, ...earlier], { id: notice, body, nowMs: Date.now() }) // D5
    deliveries.push({ ...toPost, headers, body })
  }
  return { deliveries }
}

/** Takes deliveries that are due by mail. */
export async function takeMails(deps: Pick<Deps, 'reads'>): Promise<{ mails: TakenMail[] }> {
  const taken = await takeDue(deps, MAILS, { places: MAX_MAILS, underWay: [] }, MAIL_LOST_MS)
  return {
    mails: taken.map((due) => {
      const { id: notice, webhook, tries, project, recipient } = due
      return { notice, webhook, tries, project, recipient, ...noticeText(due) }
    }),
  }
}

/** Records what came of deliveries, and returns their number by outcome. */
export async function recordDeliveries(
  deps: Needed,
  { deliveries }: { deliveries: readonly DeliveryRecord[] },
  backOffMs: readonly number[] = BACK_OFF_MS,
): Promise<DeliveryCounts> {
  const counts: DeliveryCounts = { delivered: 0, failed: 0, dead: 0 }
  for (const { posted, ...delivery } of deliveries) counts[await record(deps, delivery, posted, backOffMs)]++
  return counts
}

type Result = Posted | { error: 'key_missing' }

/** A try that was given up for lost may still deliver it; it does not undo a later one. */
async function record(
  { reads, metrics }: Needed,
  { notice, webhook, tries }: Omit<DeliveryRecord, 'posted'>,
  posted: Result,
  backOffMs: readonly number[],
): Promise<keyof DeliveryCounts> {
  const [status, error] = ['status' in posted ? posted.status : null, 'error' in posted ? posted.error : null]
  const outcome = outcomeOf(posted, tries, backOffMs)
  const state = { delivered: 'Delivered', failed: 'Pending', dead: 'Dead' }[outcome]
  await reads.prisma.$executeRaw`
    WITH recorded AS (
      UPDATE money.webhook_deliveries
         SET state = ${state}, status = ${status}::int, error = ${error},
             next_try_at = clock_timestamp() + ${backOffMs[tries - 1] ?? 0}::int * interval '1 millisecond',
             ended_at = CASE WHEN ${state} <> 'Pending' THEN clock_timestamp() END
       WHERE notice = ${notice} AND webhook = ${webhook} AND state = 'Pending'
         AND (${state} = 'Delivered' OR tries = ${tries}::int)
      RETURNING webhook, state, status, error
    ), recovered AS (
      UPDATE money.webhooks w SET failing_since = NULL FROM recorded r
       WHERE w.id = r.webhook AND r.state = 'Delivered' AND w.failing_since IS NOT NULL
    ), failing AS (
      UPDATE money.webhooks w SET failing_since = clock_timestamp() FROM recorded r
       WHERE w.id = r.webhook AND w.failing_since IS NULL AND (r.state = 'Dead' OR r.error = 'key_missing') -- D6
      RETURNING w.id, w.project, w.failing_since AS at, r.status, r.error
    ), notified AS (
      INSERT INTO money.notices (id, project, kind, details, at)
      SELECT 'ntc_' || left(encode(sha256(convert_to(concat_ws(' ', f.id, f.at), 'UTF8')), 'hex'), 26),
             f.project, 'webhook.failing',
             jsonb_strip_nulls(jsonb_build_object('webhook', f.id, 'status', f.status, 'error', f.error)), f.at
        FROM failing f
      RETURNING id, project, details->>'webhook' AS failing)
    INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at)
    SELECT n.id, w.id, clock_timestamp()
      FROM notified n JOIN money.webhooks w ON w.project = n.project AND w.id <> n.failing`
  metrics.posted(outcome)
  return outcome
}

function outcomeOf(posted: Result, tries: number, backOffMs: readonly number[]): keyof DeliveryCounts {
  if ('mailed' in posted || ('status' in posted && posted.status >= 200 && posted.status < 300)) return 'delivered'
  const isFinal = 'status' in posted ? posted.status === GONE : posted.error === 'no_recipient'
  return isFinal || tries > backOffMs.length ? 'dead' : 'failed'
}

// Chooses the deliveries to post next (money §10.2). Every worker asks each second, so:
//   T1  If nothing is due, it reads one entry of an index, regardless of the number of webhooks and of deliveries that
//       wait for later.
//   T2  Otherwise it reads a bounded number of the oldest due deliveries, and of the webhooks with one under way.
//   T3  A free place goes to the project with the fewest posts under way, and of these to its webhook with the fewest,
//       and no webhook, project or host gets more than its share. A webhook whose backlog is all that is oldest is one
//       of many: others are found separately, from the first place and from a random place in the order of their
//       reversed ids.
//   T4  A delivery that is taken is due again when its try is lost. One whose webhook is gone is put off and never
//       posted.
//   T5  Posts and mails are found separately, by the first characters of the webhook's id: without a mail server, mails
//       wait and delay no post.

export interface DueDelivery extends NoticeRow, NamedNotice {
  kind: NamedNotice['kind']
  details: NamedNotice['details']
  /** Null: deleted. */
  tenant: string | null
  webhook: string
  to: 'standard' | 'slack' | 'email'
  /** Null: by mail. */
  url: string | null
  /** The user who gets the mail; null: the Project Owners. */
  recipient: string | null
  secret_key: string | null
  generation: number
  earlier_secrets: EarlierSecret[]
  /** Including this one. */
  tries: number
  /** Time of the database. */
  now: Date
}

/** How the ids of webhooks start, by way of delivery. */
export const POSTS = 'whk_'
const MAILS = 'eml_'
const MAX_MAILS = 4
/** Shares of the posts that one worker has under way (T3). A host, such as that of Slack, may serve many projects. */
const EACH_WEBHOOK = 2
const EACH_PROJECT = 4
const EACH_HOST = 16
const OLDEST = 512
const WEBHOOKS = 64

/** Takes due deliveries of webhooks whose ids start with `ids`. They are due again after `lostMs`. */
export function takeDue(
  { reads }: Pick<Deps, 'reads'>,
  ids: string,
  { places, underWay }: DeliveriesQuestion,
  lostMs: number,
): Promise<DueDelivery[]> {
  const anyPlace = randomInt(36 ** 4)
    .toString(36)
    .padStart(4, '0')
  // A millisecond more, because a time that was stored as now may have been rounded up.
  return reads.prisma.$queryRaw<DueDelivery[]>`
    WITH RECURSIVE oldest AS MATERIALIZED (
      SELECT webhook FROM money.webhook_deliveries
       WHERE state = 'Pending' AND left(webhook, 4) = ${ids} AND next_try_at <= now() + interval '1 millisecond'
       ORDER BY next_try_at LIMIT ${OLDEST}::int
    ), others (place, looked) AS (
      SELECT place, 0 FROM (VALUES (''), (${anyPlace}::text)) starts (place) WHERE EXISTS (SELECT FROM oldest)
       UNION ALL
      SELECT next.place, others.looked + 1 FROM others CROSS JOIN LATERAL (
        SELECT reverse(webhook) AS place FROM money.webhook_deliveries
         WHERE state = 'Pending' AND left(webhook, 4) = ${ids} AND reverse(webhook) > others.place
         ORDER BY reverse(webhook) LIMIT 1) next
       WHERE others.looked < ${WEBHOOKS}::int
    ), webhooks AS (
      SELECT webhook FROM oldest UNION SELECT reverse(place) FROM others WHERE looked > 0
    ), targets AS (
      SELECT id, coalesce(w.project, id) AS project, coalesce(lower(substring(w.url FROM '^[^:]+://([^/:?#]+)')), id) AS host,
             (SELECT count(*) FROM unnest(${underWay}::text[]) u WHERE u = id) AS posts
        FROM (SELECT webhook AS id FROM webhooks UNION SELECT u FROM unnest(${underWay}::text[]) u) ids
        LEFT JOIN LATERAL (SELECT project, url FROM money.webhooks WHERE id = ids.id LIMIT 1) w ON true
    ), busy AS (
      SELECT *, sum(posts) OVER (PARTITION BY project) AS of_project, sum(posts) OVER (PARTITION BY host) AS of_host
        FROM targets
    ), of_webhooks AS (
      SELECT d.*, b.project, b.host, d.nth + b.posts AS nth_of_webhook, b.of_project, b.of_host
        FROM busy b CROSS JOIN LATERAL (
          SELECT o.notice, o.webhook, row_number() OVER (ORDER BY o.next_try_at) AS nth FROM money.webhook_deliveries o
           WHERE o.webhook = b.id AND o.state = 'Pending' AND o.next_try_at <= now() + interval '1 millisecond'
           ORDER BY o.next_try_at LIMIT ${EACH_WEBHOOK}::int) d
       WHERE d.nth + b.posts <= ${EACH_WEBHOOK}::int
    ), of_projects AS (
      SELECT *, of_project + row_number() OVER (PARTITION BY project ORDER BY nth_of_webhook, random()) AS nth_of_project
        FROM of_webhooks
    ), of_hosts AS (
      SELECT *, of_host + row_number() OVER (PARTITION BY host ORDER BY nth_of_project, random()) AS nth_of_host
        FROM of_projects WHERE nth_of_project <= ${EACH_PROJECT}::int
    ), chosen AS MATERIALIZED (
      SELECT notice, webhook FROM of_hosts WHERE nth_of_host <= ${EACH_HOST}::int
       ORDER BY nth_of_project, random() LIMIT ${places}::int
    ), due AS MATERIALIZED (
      SELECT d.notice, d.webhook FROM chosen CROSS JOIN LATERAL (
        SELECT o.notice, o.webhook FROM money.webhook_deliveries o
         WHERE o.notice = chosen.notice AND o.webhook = chosen.webhook
           AND o.state = 'Pending' AND o.next_try_at <= now() + interval '1 millisecond'
           FOR UPDATE SKIP LOCKED) d
    ), taken AS (
      UPDATE money.webhook_deliveries t
         SET tries = t.tries + 1, next_try_at = clock_timestamp() + ${lostMs}::int * interval '1 millisecond'
        FROM due WHERE t.notice = due.notice AND t.webhook = due.webhook
      RETURNING t.notice, t.webhook, t.tries)
    SELECT n.*, p.tenant, p.name AS project_name, k.name AS key_name,
           taken.webhook, taken.tries, w.kind AS to, w.url, w.recipient, w.secret_key, w.generation, w.earlier_secrets,
           clock_timestamp() AS now
      FROM taken JOIN money.webhooks w ON w.id = taken.webhook JOIN money.notices n ON n.id = taken.notice
      LEFT JOIN control.projects p ON p.id = n.project
      LEFT JOIN control.keys k ON k.id = n.key`
}

/** A row of money.notices. */
export interface NoticeRow {
  id: string
  project: string
  kind: string
  threshold: bigint | null
  remaining_micro: bigint | null
  key: string | null
  window_start: Date | null
  limit_micro: bigint | null
  spent_micro: bigint | null
  details: object
  at: Date
}

/** Returns the body that is posted to a webhook, which is the same text at each try. */
function noticeBody(row: NoticeRow): string {
  const at = row.at.toISOString()
  return JSON.stringify({
    type: row.kind,
    timestamp: at,
    data: {
      id: row.id,
      project: row.project,
      kind: row.kind,
      threshold: microOf(row.threshold),
      at,
      remainingMicro: microOf(row.remaining_micro),
      key: row.key,
      windowStart: row.window_start?.toISOString() ?? null,
      limitMicro: microOf(row.limit_micro),
      spentMicro: microOf(row.spent_micro),
      details: row.details,
    },
  })
}

/** Returns the message that is posted to Slack. It would read `<`, `>` and `&` as markup, such as a mention of everyone. */
function slackBody(due: DueDelivery, publicUrl: string | undefined): string {
  const text = noticeText(due).lines.join('\n')
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const link = publicUrl && due.tenant && `${publicUrl}/console/projects/${due.tenant}/${due.project}/notices`
  return JSON.stringify({ text: link ? `${escaped}\n${link}` : escaped })
}

function microOf(amount: bigint | null): number | null {
  return amount === null ? null : Number(amount)
}

/**
 * Returns the headers of a delivery by the Standard Webhooks specification. With one of the secrets, a receiver can
 * verify the sender; repeats have the same id.
 * @param secrets each `whsec_` and base64, the newest first
 */
export function signNotice(
  secrets: readonly string[],
  { id, body, nowMs }: { id: string; body: string; nowMs: number },
) {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

type ResendDeps = Pick<Deps, 'reads' | 'webhookAttempts'>

/** Writes a test notice, which is delivered like any other, to one webhook (money §10.2). Safe to repeat by its id. */
export async function testWebhook(
  { reads, webhookAttempts }: ResendDeps,
  { notice, webhook, project }: WebhookTest,
): Promise<SendAnswer> {
  if (!webhookAttempts.admit(project)) return { kind: 'refused', why: 'too_often' }
  await reads.prisma.$executeRaw`
    WITH written AS (
      INSERT INTO money.notices (id, project, kind, details, at)
      SELECT ${notice}, project, 'webhook.test', jsonb_build_object('webhook', id), clock_timestamp()
        FROM money.webhooks WHERE id = ${webhook} AND project = ${project}
      ON CONFLICT DO NOTHING
      RETURNING id, at)
    INSERT INTO money.webhook_deliveries (notice, webhook, next_try_at) SELECT id, ${webhook}, at FROM written`
  const sent = await reads.prisma.webhookDelivery.findUnique({ where: { notice_webhook: { notice, webhook } } })
  return sent ? { kind: 'sent' } : { kind: 'refused', why: 'not_found' }
}

/**
 * Makes a delivery due now, with all its tries, whether it was given up, was accepted, or waits (money §10.2). A try
 * that is under way no longer counts, so the notice may arrive twice.
 */
export async function resendDelivery(
  { reads, webhookAttempts }: ResendDeps,
  { notice, webhook, project }: WebhookTest,
): Promise<SendAnswer> {
  if (!webhookAttempts.admit(project)) return { kind: 'refused', why: 'too_often' }
  const sent = await reads.prisma.$executeRaw`
    UPDATE money.webhook_deliveries d
       SET state = 'Pending', tries = 0, next_try_at = clock_timestamp(), ended_at = NULL
      FROM money.webhooks w, money.notices n
     WHERE d.notice = ${notice} AND d.webhook = ${webhook}
       AND w.id = d.webhook AND w.project = ${project} AND n.id = d.notice AND n.project = w.project`
  return sent > 0 ? { kind: 'sent' } : { kind: 'refused', why: 'not_found' }
}
