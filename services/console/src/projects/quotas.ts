import {
  quotaFacts,
  quotaNames,
  quotaOf,
  type QuotaName,
  type QuotaRecords,
  type QuotaValues,
} from '@gateway/api/quotas'
import { refuse } from '@gateway/api/refusal'
import { recordChange, type Transaction } from '../audit/record-change.ts'
import type { ConsoleDeps } from '../deps.ts'
import { inProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'

// What a project may store (rules §2.11). The ledger enforces those of what it writes: assets, executions and
// webhooks. This file enforces the others.

type Deps = Pick<ConsoleDeps, 'prisma' | 'quotas'>

/** GET …/projects/{p}/quotas */
export function readQuotas({ prisma, quotas }: Deps): Handler<'readQuotas'> {
  return async (call, res) => {
    const { project: id } = await inProject(prisma, call, res, 'quotas.read')
    res.json(await quotaRecords(prisma, quotas, id))
  }
}

/** PATCH …/projects/{p}/quotas: sets quotas of one project; null returns to the default. */
export function changeQuotas({ prisma, quotas }: Deps): Handler<'changeQuotas'> {
  return async (call, res) => {
    const { user, tenant, project: id } = await inProject(prisma, call, res, 'quotas.change')
    const patch = await call.body()
    await prisma.$transaction(async (tx) => {
      const before = await lockQuotas(tx, id)
      const after = withoutNulls({ ...before, ...patch })
      await tx.project.update({ where: { id }, data: { quotas: after } })
      const details = { before: withoutNulls(before), after }
      await recordChange(tx, { tenant, user: user.id, action: 'project.quotas', subject: id, details })
    })
    res.json(await quotaRecords(prisma, quotas, id))
  }
}

/**
 * Requires that one more may be added. Holds the row of the project until the transaction ends, so that concurrent
 * additions can't exceed the quota.
 * @throws Refusal `quota_reached`
 */
export async function requireQuota(
  tx: Transaction,
  defaults: QuotaValues,
  project: string,
  quota: 'flows' | 'revisions' | 'keys' | 'tokens',
): Promise<void> {
  const limit = quotaOf(quota, defaults, await lockQuotas(tx, project))
  const used = await usedOf[quota](tx, project)
  if (used >= limit) throw refuse('quota_reached', quotaFacts(quota, limit, used), { details: { quota, limit, used } })
}

function withoutNulls(values: Record<string, number | null | undefined>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])),
  )
}

async function lockQuotas(tx: Transaction, project: string): Promise<QuotaValues> {
  const [row] = await tx.$queryRaw<{ quotas: QuotaValues }[]>`
    SELECT quotas FROM control.projects WHERE id = ${project} FOR NO KEY UPDATE`
  return row?.quotas ?? {}
}

const assetUse = (prisma: Transaction, project: string) => prisma.assetUsage.findUnique({ where: { project } })

const usedOf: Record<QuotaName, (prisma: Transaction, project: string) => Promise<number>> = {
  assetBytes: async (prisma, project) => Number((await assetUse(prisma, project))?.bytes ?? 0),
  assets: async (prisma, project) => Number((await assetUse(prisma, project))?.assets ?? 0),
  async executionBytes(prisma, project) {
    const { _sum } = await prisma.executionUsage.aggregate({ where: { project }, _sum: { bytes: true } })
    return Number(_sum.bytes ?? 0)
  },
  flows: (prisma, project) => prisma.sandbox.count({ where: { project } }),
  async revisions(prisma, project) {
    const sandboxes = await prisma.sandbox.findMany({ where: { project }, select: { id: true } })
    return prisma.revision.count({ where: { sandbox: { in: sandboxes.map(({ id }) => id) } } })
  },
  keys(prisma, project) {
    const now = new Date()
    const works = { OR: [{ rotatedTo: null }, { graceUntil: { gt: now } }] } // else it was replaced
    return prisma.key.count({ where: { project, revokedAt: null, expiresAt: { gt: now }, ...works } })
  },
  tokens: (prisma, project) => prisma.accessToken.count({ where: { project, expiresAt: { gt: new Date() } } }),
  webhooks: (prisma, project) => prisma.webhook.count({ where: { project } }),
}

async function quotaRecords(prisma: Transaction, defaults: QuotaValues, project: string): Promise<QuotaRecords> {
  const { quotas } = await prisma.project.findUniqueOrThrow({ where: { id: project }, select: { quotas: true } })
  const own = quotas as QuotaValues
  const record = async (quota: QuotaName) => ({
    quota,
    used: await usedOf[quota](prisma, project),
    limit: quotaOf(quota, defaults, own),
    isDefault: own[quota] === undefined,
  })
  return { quotas: await Promise.all(quotaNames.map(record)) }
}
