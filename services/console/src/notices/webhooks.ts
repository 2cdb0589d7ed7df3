import type { WebhookRecord } from '@gateway/api/console/notices'
import type { WebhookAnswer, WebhookRequest, WebhookRotationAnswer } from '@gateway/ledger-protocol/ledger-reads'
import { Refusal, refuse } from '@gateway/api/refusal'
import { refusalFor } from '@gateway/ledger-protocol/ledger-refusal'
import { objectionToHost } from '@gateway/service-kit/public-network/public-lookup'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { inProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { invalidField } from '../request/check.ts'
import { pageOf, readTimeCursor, timeCursor } from '../request/page.ts'
import { recipientsOf } from './mail-notices.ts'
import { databaseNow } from '../keys/key-record.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/projects/{p}/webhooks */
export function listWebhooks(deps: Pick<Deps, 'prisma'>): Handler<'listWebhooks'> {
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'notices.manage')
    const { cursor, limit } = call.query()
    const place = cursor === undefined ? null : readTimeCursor(cursor, /^(whk|eml)_/)
    const rows = await deps.prisma.webhook.findMany({
      where: {
        project,
        ...(place && { OR: [{ createdAt: { lt: place.at } }, { createdAt: place.at, id: { lt: place.id } }] }),
      },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    })
    const now = await databaseNow(deps.prisma)
    res.json(
      pageOf(
        rows.map((row) => webhookRecord(row, now)),
        limit,
        timeCursor,
      ),
    )
  }
}

/**
 * POST …/projects/{p}/webhooks: the ledger generates the secret of a signed one, shown once (money §10.2). The audit row
 * follows.
 */
export function createWebhook(deps: Deps & Pick<ConsoleDeps, 'newId' | 'mails'>): Handler<'createWebhook'> {
  const { prisma, ledger } = deps
  return async (call, res) => {
    const { user, tenant, project } = await inProject(deps.prisma, call, res, 'notices.manage')
    const body = await call.body()
    if (body.kind === 'email') await requireRecipient(deps, project, body.user)
    const id = deps.newId(body.kind === 'email' ? 'eml' : 'whk')
    const destination = { id, project, createdBy: user.id }
    const answer =
      body.kind === 'email'
        ? await ledger.createWebhook({ ...destination, kind: body.kind, recipient: body.user })
        : await createAtHost(ledger, { ...destination, kind: body.kind ?? 'standard', url: body.url })
    if ('refused' in answer) throw refusalFor(answer.refused, 'console')
    if (answer.kind === 'refused') throw refusalOf(answer.why)
    const change = {
      tenant,
      user: user.id,
      action: 'webhook.create' as const,
      subject: id,
      details: { project, kind: body.kind ?? 'standard' },
    }
    await recordChange(prisma, change)
    res.status(201).json({ webhook: await readRecord(deps, project, id), secret: answer.secret })
  }
}

/** The host is looked up here: the few connections to the ledger, which revocations need, wait for no name server. */
async function createAtHost(
  ledger: Deps['ledger'],
  request: Extract<WebhookRequest, { url: string }>,
): Promise<WebhookAnswer | { kind: 'refused'; why: 'unknown_host' }> {
  const answer = await ledger.createWebhook(request)
  if (!('why' in answer) || answer.why !== 'host_unchecked') return answer
  const objection = await objectionToHost(request.url)
  if (objection !== null) return { kind: 'refused', why: objection }
  return ledger.createWebhook({ ...request, hostChecked: true })
}

/** GET …/projects/{p}/webhooks/{webhook} */
export function readWebhook(deps: Pick<Deps, 'prisma'>): Handler<'readWebhook'> {
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'notices.manage')
    res.json(await readRecord(deps, project, call.id('webhook')))
  }
}

/** POST …/projects/{p}/webhooks/{webhook}/rotate: another secret, shown once (money §10.2). The audit row follows. */
export function rotateWebhookSecret(deps: Deps): Handler<'rotateWebhookSecret'> {
  return async (call, res) => {
    const { user, tenant, project } = await inProject(deps.prisma, call, res, 'notices.manage')
    const id = call.id('webhook')
    const { graceSeconds = null } = await call.body()
    const { generation } = await findWebhook(deps, project, id)
    const answer = await deps.ledger.rotateWebhookSecret({ id, project, generation, graceSeconds })
    if (answer.kind === 'refused') throw rotationRefusal(answer.why)
    const details = { project, ...(graceSeconds !== null && { graceSeconds }) }
    await recordChange(deps.prisma, { tenant, user: user.id, action: 'webhook.rotate', subject: id, details })
    res.status(201).json({ webhook: await readRecord(deps, project, id), secret: answer.secret })
  }
}

/** DELETE …/projects/{p}/webhooks/{webhook}: pending deliveries to it are dropped. */
export function deleteWebhook(deps: Pick<Deps, 'prisma'>): Handler<'deleteWebhook'> {
  return async (call, res) => {
    const { user, tenant, project } = await inProject(deps.prisma, call, res, 'notices.manage')
    const id = call.id('webhook')
    await endWebhook(deps, { tenant, user: user.id }, { id, project })
    res.status(204).end()
  }
}

/** Deletes a webhook and writes the audit row, in one transaction. @throws Refusal `not_found` */
export async function endWebhook(
  { prisma }: Pick<Deps, 'prisma'>,
  by: { tenant: string; user: string },
  { id, project }: { id: string; project: string },
): Promise<void> {
  await prisma.$transaction(async (tx) => {
    const [ended] = await tx.$queryRaw<[{ found: boolean }]>`SELECT control.end_webhook(${project}, ${id}) AS found`
    if (!ended.found) throw refuse('not_found', {})
    await recordChange(tx, { ...by, action: 'webhook.delete', subject: id, details: { project } })
  })
}

/** @throws Refusal `unavailable`, `invalid_request` */
async function requireRecipient(
  { prisma, mails }: Pick<ConsoleDeps, 'prisma' | 'mails'>,
  project: string,
  user: string | null,
) {
  if (!mails.areSent)
    throw new Refusal(
      'unavailable',
      'This service has no mail server.',
      'Ask its operator to set SMTP_URL of the console; until then, add a webhook.',
      { retryAfterMs: null },
    )
  if (user !== null && (await recipientsOf(prisma, project, user)).length === 0)
    throw invalidField('user', 'has no role on the project.')
}

/** @throws Refusal `not_found` */
export async function findWebhook({ prisma }: Pick<Deps, 'prisma'>, project: string, id: string) {
  const row = await prisma.webhook.findFirst({ where: { id, project } })
  if (!row) throw refuse('not_found', {})
  return row
}

type WebhookRow = Awaited<ReturnType<typeof findWebhook>>

/** @throws Refusal `not_found` */
async function readRecord(deps: Pick<Deps, 'prisma'>, project: string, id: string): Promise<WebhookRecord> {
  return webhookRecord(await findWebhook(deps, project, id), await databaseNow(deps.prisma))
}

function webhookRecord(row: WebhookRow, now: Date): WebhookRecord {
  const { id, url, recipient, createdBy, createdAt, failingSince, earlierSecrets } = row
  const kind = row.kind as WebhookRecord['kind']
  const ends = (earlierSecrets as { until: string }[])
    .map(({ until }) => until)
    .filter((end) => end > now.toISOString())
  return {
    id,
    kind,
    url: kind === 'slack' ? new URL(url!).origin : url,
    user: recipient,
    createdBy,
    createdAt: createdAt.toISOString(),
    failingSince: failingSince?.toISOString() ?? null,
    earlierSecretsUntil: ends.toSorted().at(-1) ?? null,
  }
}

function rotationRefusal(why: Extract<WebhookRotationAnswer, { kind: 'refused' }>['why']): Refusal {
  switch (why) {
    case 'off':
      return refusalOf(why)
    case 'not_found':
      return refuse('not_found', {})
    case 'too_many':
      return new Refusal(
        'rate_limited',
        'The webhook was rotated four times, and all of its earlier secrets still sign.',
        'Rotate it with graceSeconds 0, which ends them, or retry once the first of them has ended.',
        { retryAfterMs: null },
      )
    case 'moved':
      return new Refusal(
        'rate_limited',
        'The webhook was rotated by another request at the same time.',
        'Use the secret of that rotation, or rotate the webhook again.',
      )
  }
}

type Why = Extract<WebhookAnswer, { why: string }>['why'] | 'unknown_host'

function refusalOf(why: Why): Refusal {
  switch (why) {
    case 'off':
      return new Refusal(
        'unavailable',
        'This service has no key to make secrets of webhooks with.',
        'Ask its operator to set WEBHOOK_KEY of the ledger; until then, read GET …/notices.',
        { retryAfterMs: null },
      )
    case 'too_often':
      return new Refusal(
        'rate_limited',
        'The project has tried to create twenty webhooks within a minute.',
        'Retry after Retry-After seconds.',
        { retryAfterMs: 30_000 },
      )
    case 'not_https':
      return invalidField('url', 'must start with https://.')
    case 'private':
      return invalidField('url', 'resolves to an address that is not on the public internet.')
    case 'unknown_host':
    case 'host_unchecked':
      return invalidField('url', 'has a host that could not be found.')
  }
}
