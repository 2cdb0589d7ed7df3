import type { WebhookDelivery } from '@gateway/api/console/notices'
import { Refusal, refuse } from '@gateway/api/refusal'
import { Prisma } from '@gateway/database/client'
import type { SendAnswer } from '@gateway/ledger-protocol/ledger-reads'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { inProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readTimeCursor, timeCursor } from '../request/page.ts'
import { deliveryFacts } from './list-notices.ts'
import { findWebhook } from './webhooks.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger' | 'newId'>

/** GET …/webhooks/{webhook}/deliveries: newest notice first. */
export function listDeliveries(deps: Pick<Deps, 'prisma'>): Handler<'listDeliveries'> {
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'notices.manage')
    const { id: webhook } = await findWebhook(deps, project, call.id('webhook'))
    const { cursor, limit, state } = call.query()
    const place = cursor === undefined ? null : readTimeCursor(cursor, /^ntc_/)
    const rows = await readDeliveries(deps, {
      project,
      webhook,
      where: Prisma.sql`
        ${place === null ? Prisma.empty : Prisma.sql`AND (n.at, n.id) < (${place.at}, ${place.id})`}
        ${state === undefined ? Prisma.empty : Prisma.sql`AND d.state = ${state}`}`,
      limit: limit + 1,
    })
    res.json(pageOf(rows, limit, ({ at, notice }) => timeCursor({ createdAt: at, id: notice })))
  }
}

/** POST …/webhooks/{webhook}/test: sends a notice of the type `webhook.test` (money §10.2). */
export function testWebhook(deps: Deps): Handler<'testWebhook'> {
  return async (call, res) => {
    const { user, tenant, project } = await inProject(deps.prisma, call, res, 'notices.manage')
    const webhook = call.id('webhook')
    const notice = deps.newId('ntc')
    requireSent(await deps.ledger.testWebhook({ notice, webhook, project }))
    const change = { tenant, user: user.id, action: 'webhook.test' as const, subject: webhook, details: { project } }
    await recordChange(deps.prisma, change)
    res.status(201).json(await readDelivery(deps, { project, webhook, notice }))
  }
}

/** POST …/webhooks/{webhook}/deliveries/{notice}/resend */
export function resendDelivery(deps: Deps): Handler<'resendDelivery'> {
  return async (call, res) => {
    const { user, tenant, project } = await inProject(deps.prisma, call, res, 'notices.manage')
    const [webhook, notice] = [call.id('webhook'), call.id('notice')]
    requireSent(await deps.ledger.resendDelivery({ notice, webhook, project }))
    const change = {
      tenant,
      user: user.id,
      action: 'webhook.resend' as const,
      subject: webhook,
      details: { project, notice },
    }
    await recordChange(deps.prisma, change)
    res.json(await readDelivery(deps, { project, webhook, notice }))
  }
}

function requireSent(answer: SendAnswer): void {
  if (answer.kind === 'sent') return
  if (answer.why === 'not_found') throw refuse('not_found', {})
  throw new Refusal(
    'rate_limited',
    'The project has asked for twenty deliveries or webhooks within a minute.',
    'Retry after Retry-After seconds.',
    { retryAfterMs: 30_000 },
  )
}

async function readDelivery(deps: Pick<Deps, 'prisma'>, of: { project: string; webhook: string; notice: string }) {
  const [row] = await readDeliveries(deps, { ...of, where: Prisma.sql`AND n.id = ${of.notice}`, limit: 1 })
  if (!row) throw refuse('not_found', {}) // deleted in the meantime
  return row
}

interface Row {
  notice: string
  kind: string
  at: Date
  state: string
  tries: number
  status: number | null
  error: string | null
  nextTryAt: Date
  endedAt: Date | null
}

/** Walks the notices of a project, newest first, and looks each one's delivery up by its primary key. */
async function readDeliveries(
  { prisma }: Pick<Deps, 'prisma'>,
  { project, webhook, where, limit }: { project: string; webhook: string; where: Prisma.Sql; limit: number },
): Promise<WebhookDelivery[]> {
  const rows = await prisma.$queryRaw<Row[]>`
    SELECT n.id AS notice, n.kind, n.at, d.state, d.tries, d.status, d.error,
           d.next_try_at AS "nextTryAt", d.ended_at AS "endedAt"
      FROM money.notices n JOIN money.webhook_deliveries d ON d.notice = n.id AND d.webhook = ${webhook}
     WHERE n.project = ${project} ${where}
     ORDER BY n.at DESC, n.id DESC LIMIT ${limit}::int`
  return rows.map(({ notice, kind, at, ...row }) => ({
    notice,
    kind: kind as WebhookDelivery['kind'],
    at: at.toISOString(),
    ...deliveryFacts(row),
  }))
}
