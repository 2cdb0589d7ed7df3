import type { WebhookAnswer } from '@gateway/ledger-protocol/ledger-reads'
import { Refusal, refuse } from '@gateway/api/refusal'
import { recordChange } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { authorizeInProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { invalidField } from '../request/check.ts'
import { pageOf } from '../request/page.ts'
import { userOf } from '../sign-in/user.ts'

type Deps = Pick<ConsoleDeps, 'prisma' | 'ledger'>

/** GET …/projects/{p}/webhooks: in the order of their creation. */
export function listWebhooks(deps: Pick<Deps, 'prisma'>): Handler<'listWebhooks'> {
  return async (call, res) => {
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(
      deps.prisma,
      userOf(res),
      tenant,
      call.id('project'),
      'notices.manage',
    )
    const { cursor = '', limit } = call.query()
    const rows = await deps.prisma.webhook.findMany({
      where: { project, id: { gt: cursor } },
      orderBy: { id: 'asc' },
      take: limit + 1,
    })
    const records = rows.map(({ id, url, createdBy, createdAt }) => ({
      id,
      url,
      createdBy,
      createdAt: createdAt.toISOString(),
    }))
    res.json(pageOf(records, limit, ({ id }) => id))
  }
}

/** POST …/projects/{p}/webhooks: the ledger generates a secret, shown once (money §10.2). The audit row follows. */
export function createWebhook(deps: Deps & Pick<ConsoleDeps, 'newId'>): Handler<'createWebhook'> {
  const { prisma, ledger } = deps
  return async (call, res) => {
    const user = userOf(res)
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps.prisma, user, tenant, call.id('project'), 'notices.manage')
    const { url } = await call.body()
    const id = deps.newId('whk')
    const answer = await ledger.createWebhook({ id, project, url, createdBy: user.id })
    if (answer.kind === 'refused') throw refusalOf(answer.why)
    const change = { tenant, user: user.id, action: 'webhook.create', subject: id, details: { project } }
    await recordChange(prisma, change)
    const { createdAt } = await prisma.webhook.findUniqueOrThrow({ where: { id } })
    const webhook = { id, url, createdBy: user.id, createdAt: createdAt.toISOString() }
    res.status(201).json({ webhook, secret: answer.secret })
  }
}

/** DELETE …/projects/{p}/webhooks/{webhook}: pending deliveries to it are dropped. */
export function deleteWebhook(deps: Deps): Handler<'deleteWebhook'> {
  return async (call, res) => {
    const user = userOf(res)
    const tenant = call.id('tenant')
    const { id: project } = await authorizeInProject(deps.prisma, user, tenant, call.id('project'), 'notices.manage')
    const id = call.id('webhook')
    const { deleted } = await deps.ledger.deleteWebhook({ id, project })
    if (!deleted) throw refuse('not_found', {})
    const change = { tenant, user: user.id, action: 'webhook.delete', subject: id, details: { project } }
    await recordChange(deps.prisma, change)
    res.status(204).end()
  }
}

type Why = Extract<WebhookAnswer, { kind: 'refused' }>['why']

function refusalOf(why: Why): Refusal {
  switch (why) {
    case 'off':
      return new Refusal(
        'unavailable',
        'This service has no key to make secrets of webhooks with.',
        'Ask its operator to set WEBHOOK_KEY of the ledger; until then, read GET …/notices.',
        { retryAfterMs: null },
      )
    case 'too_many':
      return new Refusal('not_empty', 'The project has five webhooks already.', 'Delete one of them first.')
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
      return invalidField('url', 'has a host that could not be found.')
  }
}
