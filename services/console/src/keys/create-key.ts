import { KEY_SECRET_PREFIX } from '@gateway/api/ids'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import type { Handler } from '../request/call.ts'
import { createOnce } from '../request/create-once.ts'
import { requireQuota } from '../projects/quotas.ts'
import { userOf } from '../sign-in/user.ts'
import { boundedExpiry } from '../sign-in/scopes.ts'
import { issueSecret } from '../sign-in/secret.ts'
import { lockToken } from '../sign-in/tokens.ts'
import { databaseNow, keyRecord } from './key-record.ts'
import { authorizeInProject, authorizeInTenant, authorizeKeyIssuer } from '../permissions/authorize.ts'
import { readCheck } from '@gateway/api/admission-check'
import { composeCheck } from '@gateway/ledger-protocol/compose-check'
import { visibleKeys } from '../permissions/visible-projects.ts'

const DAY_MS = 86_400_000
const ROTATE = 'Its secret was shown once, when the key was made. Rotate the key for another one.'

/** POST …/keys: creates a key, permanently bound to one project (rules §6.1, §6.2, §6.5). Its secret is shown once. */
export function createKey(deps: Pick<ConsoleDeps, 'prisma' | 'newId' | 'random' | 'quotas'>): Handler<'createKey'> {
  const { newId } = deps
  return async (call, res) => {
    const user = userOf(res)
    const tenant = call.id('tenant')
    const { project: named } = await call.sentBody()
    if (named === undefined || named === null) {
      await authorizeInTenant(deps.prisma, user, tenant, 'projects.read')
      throw refuse('project_required', {}, { param: 'project' })
    }
    const body = await call.body()
    const { id: project } = await authorizeKeyIssuer(deps.prisma, user, tenant, body.project)
    const resources = [...new Set(body.resources)]
    const { secret, hash, prefix } = issueSecret(KEY_SECRET_PREFIX, deps)
    const id = newId('key')
    await createOnce(deps, call, res, async (tx) => {
      const madeWith = await lockToken(tx, user.personal)
      await requireQuota(tx, deps.quotas, project, 'keys')
      await requireEligible(tx, project, resources)
      const now = await databaseNow(tx)
      const row = await tx.key.create({
        data: {
          id,
          hash,
          prefix,
          name: body.name,
          tenant,
          project,
          lineage: id,
          policy: body.policy,
          limitMicro: body.limit?.micro ?? null,
          limitReset: body.limit?.reset ?? null,
          createdBy: user.id,
          createdAt: now,
          issuedAt: now,
          expiresAt: boundedExpiry(user.personal, new Date(now.getTime() + body.expiresInDays * DAY_MS)),
          expiryDays: body.expiresInDays,
          rates: body.rates,
          tag: body.tag,
          madeWith,
        },
      })
      await tx.keyResource.createMany({ data: resources.map((resource) => ({ key: id, resource })) })
      const { policy, limit, rates, tag, expiresInDays } = body
      const details = { project, prefix, policy, limit, rates, tag, expiresInDays }
      await recordChange(tx, { tenant, user: user.id, action: 'key.create', subject: id, details })
      const key = await keyRecord(tx, row, now, user.id)
      return { body: { key, secret }, repeated: { key, secret: null, resolution: ROTATE } }
    })
  }
}

/**
 * POST …/keys/{k}/check: whether a call with this key would be admitted now (rules §2.10). For users who see the key
 * and may read the wallet of its project, because a refusal reveals the balance. The prompt is not tokenized here.
 */
export function checkKey(deps: Pick<ConsoleDeps, 'prisma' | 'ledger'>): Handler<'checkKey'> {
  return async (call, res) => {
    const [user, tenant, id] = [userOf(res), call.id('tenant'), call.id('key')]
    const visible = await visibleKeys(deps, user, tenant)
    const key = await deps.prisma.key.findFirst({ where: { AND: [visible, { id }] }, select: { project: true } })
    if (!key) throw refuse('not_found', {})
    if (key.project !== null) await authorizeInProject(deps.prisma, user, tenant, key.project, 'wallet.read')
    const checked = readCheck(await call.body())
    const { request: _, ...asked } = checked
    res.json(composeCheck(checked, await deps.ledger.checkAdmission({ caller: { key: id }, ...asked })))
  }
}

/**
 * Checks that an allowlist names only published products assigned to the project and the project's own sandbox products
 * (rules §6.4).
 * @throws Refusal `resource_not_eligible` that names all others
 */
async function requireEligible(tx: Transaction, project: string, resources: string[]): Promise<void> {
  if (resources.length === 0) return
  const assigned = await tx.assignment.findMany({ where: { project, product: { in: resources } } })
  const published = await tx.product.findMany({
    where: { id: { in: assigned.map(({ product }) => product) }, state: 'published' },
    select: { id: true },
  })
  const sandboxes = await tx.sandbox.findMany({ where: { project, id: { in: resources } }, select: { id: true } })
  const eligible = new Set([...published, ...sandboxes].map(({ id }) => id))
  const others = resources.filter((resource) => !eligible.has(resource))
  if (others.length === 0) return
  const facts = { resources: others }
  throw refuse('resource_not_eligible', facts, { param: 'resources', details: facts })
}
