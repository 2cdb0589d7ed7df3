import type { WebhookAnswer, WebhookRequest } from '@gateway/ledger-protocol/ledger-reads'
import type { Deps } from '../deps.ts'
import { objectionTo } from '@gateway/service-kit/public-network/address-objection'

type Needed = Pick<Deps, 'reads' | 'webhookSettings' | 'webhookAttempts'>

const MAX_OF_PROJECT = 5

/** Posts the notices of a project to an address from now on (money §10.2). Safe to repeat. */
export async function createWebhook(
  { reads, webhookSettings, webhookAttempts }: Needed,
  request: WebhookRequest,
): Promise<WebhookAnswer> {
  const { id, project, url, createdBy } = request
  const { key, privateAddresses, secretOf } = webhookSettings
  if (key === null) return { kind: 'refused', why: 'off' }
  if (!webhookAttempts.admit(project)) return { kind: 'refused', why: 'too_often' }
  const objection = await objectionTo(url, privateAddresses)
  if (objection !== null) return { kind: 'refused', why: objection }
  await reads.prisma.$executeRaw`
    INSERT INTO money.webhooks (id, project, url, secret_key, created_by, created_at)
    SELECT ${id}, ${project}, ${url}, ${key}, ${createdBy}, clock_timestamp()
     WHERE (SELECT count(*) FROM money.webhooks WHERE project = ${project}) < ${MAX_OF_PROJECT}::int
    ON CONFLICT DO NOTHING`
  const made = await reads.prisma.webhook.findUnique({ where: { id, project } })
  const secret = made && secretOf(made)
  return secret ? { kind: 'made', secret } : { kind: 'refused', why: 'too_many' }
}

/** Deletes a webhook and drops its pending deliveries. */
export async function deleteWebhook(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { id, project }: { id: string; project: string },
): Promise<{ deleted: boolean }> {
  const deleted = await prisma.$executeRaw`DELETE FROM money.webhooks WHERE id = ${id} AND project = ${project}`
  if (deleted > 0) await prisma.$executeRaw`DELETE FROM money.webhook_deliveries WHERE webhook = ${id}`
  return { deleted: deleted > 0 }
}
