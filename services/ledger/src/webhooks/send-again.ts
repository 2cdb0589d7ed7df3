import type { SendAnswer, WebhookTest } from '@gateway/ledger-protocol/ledger-reads'
import type { Deps } from '../deps.ts'

type Needed = Pick<Deps, 'reads' | 'webhookAttempts'>

/** Writes a test notice, which is delivered like any other, to one webhook (money §10.2). Safe to repeat by its id. */
export async function testWebhook(
  { reads, webhookAttempts }: Needed,
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
  { reads, webhookAttempts }: Needed,
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
