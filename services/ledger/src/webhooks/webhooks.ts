import { quotaFacts, quotaOf, type QuotaValues } from '@gateway/api/quotas'
import { refused } from '@gateway/ledger-protocol/ledger-refusal'
import type {
  WebhookAnswer,
  WebhookRequest,
  WebhookRotation,
  WebhookRotationAnswer,
} from '@gateway/ledger-protocol/ledger-reads'
import type { Deps } from '../deps.ts'
import { objectionToUrl } from '@gateway/service-kit/public-network/public-lookup'
import type { SecretName } from './webhook-settings.ts'

type Needed = Pick<Deps, 'reads' | 'webhookSettings' | 'webhookAttempts' | 'quotas'>

/**
 * Sends the notices of a project to a destination from now on (money §10.2). Safe to repeat. The caller looks up
 * the host: a name server that never answers would keep its connections here, which revocations need.
 */
export async function createWebhook(
  { reads, webhookSettings, webhookAttempts, quotas }: Needed,
  request: WebhookRequest,
): Promise<WebhookAnswer> {
  const { id, project, kind, createdBy } = request
  const { key, privateAddresses, secretOf } = webhookSettings
  if (kind === 'standard' && key === null) return { kind: 'refused', why: 'off' }
  const { url, recipient, hostChecked } = { url: null, recipient: null, hostChecked: false, ...request }
  if (!hostChecked && !webhookAttempts.admit(project)) return { kind: 'refused', why: 'too_often' }
  if (url !== null) {
    const objection = objectionToUrl(url, privateAddresses)
    if (objection !== null) return { kind: 'refused', why: objection }
    if (!privateAddresses && !hostChecked) return { kind: 'refused', why: 'host_unchecked' }
  }
  return reads.prisma.$transaction(async (tx) => {
    // The ledger can't lock the project itself, which it only reads.
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('money.webhooks'), hashtext(${project}))`
    const secretKey = kind === 'standard' ? key : null
    const made = await tx.webhook.findUnique({ where: { id, project } })
    if (made === null) {
      const row = await tx.project.findUnique({ where: { id: project }, select: { quotas: true } })
      const limit = quotaOf('webhooks', quotas, (row?.quotas ?? {}) as QuotaValues)
      const used = await tx.webhook.count({ where: { project } })
      if (used >= limit) return refused('quota_reached', quotaFacts('webhooks', limit, used))
      await tx.$executeRaw`
        INSERT INTO money.webhooks (id, project, kind, url, recipient, secret_key, created_by, created_at)
        VALUES (${id}, ${project}, ${kind}, ${url}, ${recipient}, ${secretKey}, ${createdBy}, clock_timestamp())`
    }
    return { kind: 'made', secret: secretOf(made ?? { id, secretKey, generation: 1 }) }
  })
}

/** How many earlier secrets may sign as well. */
const MAX_EARLIER = 4

/**
 * Replaces the secret of a webhook (money §10.2). Earlier secrets also sign until the grace ends, and none of them for
 * longer, so a rotation without grace ends them all. `generation` makes a repeat return the same secret, and lets a
 * rotation that has missed another one fail.
 */
export async function rotateWebhookSecret(
  { reads, webhookSettings }: Pick<Deps, 'reads' | 'webhookSettings'>,
  { id, project, generation, graceSeconds: asked }: WebhookRotation,
): Promise<WebhookRotationAnswer> {
  const { key, secretOf, graceSeconds: longest } = webhookSettings
  if (key === null) return { kind: 'refused', why: 'off' }
  const graceSeconds = Math.min(asked ?? longest, longest)
  return reads.prisma.$transaction(async (tx) => {
    const [row] = await tx.$queryRaw<LockedWebhook[]>`
      SELECT secret_key, generation, earlier_secrets, clock_timestamp() AS now
        FROM money.webhooks WHERE id = ${id} AND project = ${project} AND kind = 'standard' FOR UPDATE`
    if (!row) return { kind: 'refused', why: 'not_found' }
    const next = { id, secretKey: key, generation: generation + 1 }
    if (row.generation === next.generation) {
      const secret = secretOf({ ...next, secretKey: row.secret_key })
      return secret === null ? { kind: 'refused', why: 'moved' } : { kind: 'rotated', secret }
    }
    if (row.generation !== generation) return { kind: 'refused', why: 'moved' }
    const until = new Date(row.now.getTime() + graceSeconds * 1_000).toISOString()
    const current = { secretKey: row.secret_key, generation, until }
    const earlier = [...stillSigning(row.earlier_secrets, row.now), current]
      .map((secret) => ({ ...secret, until: secret.until < until ? secret.until : until }))
      .filter((secret) => graceSeconds > 0 && secretOf({ id, ...secret }) !== null)
    if (earlier.length > MAX_EARLIER) return { kind: 'refused', why: 'too_many' }
    const data = { secretKey: key, generation: next.generation, earlierSecrets: earlier.map((each) => ({ ...each })) }
    await tx.webhook.update({ where: { id }, data })
    return { kind: 'rotated', secret: secretOf(next)! }
  })
}

interface LockedWebhook {
  secret_key: string
  generation: number
  earlier_secrets: EarlierSecret[]
  now: Date
}

/** A secret from before a rotation, as stored with its webhook. */
export interface EarlierSecret extends SecretName {
  /** Until when it signs as well. ISO 8601, UTC. */
  until: string
}

/** Returns the earlier secrets that still sign. */
export function stillSigning(earlier: readonly EarlierSecret[], now: Date): EarlierSecret[] {
  return earlier.filter(({ until }) => until > now.toISOString())
}
