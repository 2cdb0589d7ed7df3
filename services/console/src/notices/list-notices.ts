import { noticeDetails, type NoticeRecord } from '@gateway/api/console/notices'
import type { ConsoleDeps } from '../deps.ts'
import { inProject } from '../permissions/authorize.ts'
import type { Handler } from '../request/call.ts'
import { pageOf, readTimeCursor, timeCursor } from '../request/page.ts'
import type { KeyRecord, KeyWindow } from '@gateway/api/console/keys'
import { windowEndMs } from '@gateway/pricing/spending-window'
import { databaseNow, inState, keyWindow, limitOf } from '../keys/key-record.ts'

/** GET …/projects/{p}/notices: newest first, each with whether it is open (money §10). */
export function listNotices(deps: Pick<ConsoleDeps, 'prisma'>): Handler<'listNotices'> {
  return async (call, res) => {
    const { project } = await inProject(deps.prisma, call, res, 'usage.read')
    const { cursor, limit } = call.query()
    const after = cursor === undefined ? null : readTimeCursor(cursor)
    const rows = await deps.prisma.notice.findMany({
      where: {
        project,
        kind: { not: 'webhook.test' },
        ...(after && { OR: [{ at: { lt: after.at } }, { at: after.at, id: { lt: after.id } }] }),
      },
      orderBy: [{ at: 'desc' }, { id: 'desc' }],
      take: limit + 1,
    })
    const deliveries = Map.groupBy(await deliveriesOf(deps, project, rows), ({ notice }) => notice)
    const open = await openNotices(deps, project, rows)
    const records = rows.map((row): NoticeRecord => ({
      id: row.id,
      kind: row.kind as NoticeRecord['kind'],
      threshold: microOf(row.threshold),
      at: row.at.toISOString(),
      open: open.has(row.id),
      remainingMicro: microOf(row.remainingMicro),
      key: row.key,
      windowStart: row.windowStart?.toISOString() ?? null,
      limitMicro: microOf(row.limitMicro),
      spentMicro: microOf(row.spentMicro),
      details: noticeDetails.parse(row.details),
      deliveries: (deliveries.get(row.id) ?? []).map((one) => ({ webhook: one.webhook, ...deliveryFacts(one) })),
    }))
    res.json(pageOf(records, limit, ({ at, id }) => timeCursor({ createdAt: at, id })))
  }
}

function microOf(amount: bigint | null): number | null {
  return amount === null ? null : Number(amount)
}

type Delivery = Awaited<ReturnType<ConsoleDeps['prisma']['webhookDelivery']['findMany']>>[number]

/** Returns the deliveries to webhooks that still exist. */
async function deliveriesOf(
  { prisma }: Pick<ConsoleDeps, 'prisma'>,
  project: string,
  notices: { id: string }[],
): Promise<Delivery[]> {
  const webhooks = await prisma.webhook.findMany({ where: { project }, select: { id: true } })
  if (webhooks.length === 0) return []
  return prisma.webhookDelivery.findMany({
    where: { notice: { in: notices.map(({ id }) => id) }, webhook: { in: webhooks.map(({ id }) => id) } },
    orderBy: { webhook: 'asc' },
  })
}

/** Returns a delivery as the API shows it, without what it is a delivery of. */
export function deliveryFacts({
  state,
  tries,
  status,
  error,
  nextTryAt,
  endedAt,
}: Omit<Delivery, 'webhook' | 'notice'>) {
  return {
    state: state as NoticeRecord['deliveries'][number]['state'],
    tries,
    status,
    error,
    nextTryAt: state === 'Pending' ? nextTryAt.toISOString() : null,
    endedAt: endedAt?.toISOString() ?? null,
  }
}

type Deps = Pick<ConsoleDeps, 'prisma'>

/**
 * Returns the ids of the open notices: threshold crossed now, and no newer notice for the same threshold; or an event
 * that is new or lasts (money §10.1).
 */
async function openNotices(deps: Deps, project: string, notices: WrittenNotice[]): Promise<Set<string>> {
  if (notices.length === 0) return new Set()
  const facts = await readFacts(deps, project, notices)
  const events = notices.filter((notice) => notice.threshold === null && isOpenEvent(notice, facts)).map(({ id }) => id)
  const crossed = notices.filter((notice) => isCrossed(notice, facts)).map(({ id }) => id)
  if (crossed.length === 0) return new Set(events)
  const newest = await deps.prisma.$queryRaw<{ id: string }[]>`
    SELECT n.id FROM money.notices n
     WHERE n.project = ${project} AND n.id = ANY (${crossed})
       AND NOT EXISTS (SELECT FROM money.notices l
                        WHERE l.project = n.project AND l.kind = n.kind AND l.threshold = n.threshold
                          AND l.lineage IS NOT DISTINCT FROM n.lineage AND (l.at, l.id) > (n.at, n.id))`
  return new Set([...events, ...newest.map(({ id }) => id)])
}

async function readFacts({ prisma }: Deps, project: string, notices: WrittenNotice[]): Promise<NoticeFacts> {
  const lineages = [...new Set(notices.flatMap(({ lineage }) => lineage ?? []))]
  const hasPace = notices.some(({ kind }) => kind === 'wallet.days_left')
  const hasBudget = notices.some(({ kind }) => kind === 'budget.percent')
  const hasFailing = notices.some(({ kind }) => kind === 'webhook.failing')
  const [now, wallet, weekMicro, windows, budgets, failing] = await Promise.all([
    databaseNow(prisma),
    prisma.wallet.findUnique({ where: { project } }),
    hasPace ? chargedInAWeek(prisma, project) : 0n,
    lineages.length === 0 ? new Map() : windowsOf(prisma, project, lineages),
    hasBudget ? prisma.budget.findMany({ where: { id: { in: lineages }, target: { not: null } } }) : [],
    hasFailing ? prisma.webhook.findMany({ where: { project, failingSince: { not: null } } }) : [],
  ])
  const failingSince = new Map(failing.map((webhook) => [webhook.id, webhook.failingSince?.getTime() ?? 0]))
  const remainingMicro = (wallet?.funded ?? 0n) - (wallet?.settled ?? 0n)
  return {
    now,
    remainingMicro,
    weekMicro,
    windows,
    budgets: new Map(
      budgets.map(({ isHard: hard, spent: spentMicro, ...row }) => [row.id, { ...row, hard, spentMicro }]),
    ),
    failingSince,
  }
}

/** Charges of the last week, as the ledger computes them for notices (`notify_days_left`). */
async function chargedInAWeek(prisma: Deps['prisma'], project: string): Promise<bigint> {
  const [row] = await prisma.$queryRaw<[{ micro: bigint }]>`
    SELECT coalesce(sum(micro), 0)::bigint AS micro FROM money.usage_hours
     WHERE project = ${project} AND dimension = 'all' AND hour > clock_timestamp() - interval '7 days'`
  return row.micro
}

/** Returns limit and window by lineage, of the key that currently works. */
async function windowsOf(
  prisma: Deps['prisma'],
  project: string,
  lineages: string[],
): Promise<Map<string, { limit: NonNullable<KeyRecord['limit']>; window: KeyWindow }>> {
  const now = await databaseNow(prisma)
  const where = { lineage: { in: lineages }, project }
  const [keys, meters] = await Promise.all([
    prisma.key.findMany({ where: { AND: [where, inState('Active', now)] } }),
    prisma.meter.findMany({ where }),
  ])
  const meterOf = new Map(meters.map((meter) => [meter.lineage, meter]))
  return new Map(
    keys.flatMap((key) => {
      const limit = limitOf(key)
      const window = keyWindow(limit, meterOf.get(key.lineage), now)
      return limit && window ? [[key.lineage, { limit, window }]] : []
    }),
  )
}

/** Stored notice. */
export interface WrittenNotice {
  id: string
  kind: string
  /** null: an event. */
  threshold: bigint | null
  lineage: string | null
  windowStart: Date | null
  /** Of a key or a budget, when the notice was written. Micro-USD. */
  limitMicro: bigint | null
  spentMicro: bigint | null
  details: unknown
  at: Date
}

/** Current amounts. Micro-USD. */
export interface NoticeFacts {
  now: Date
  /** Amount funded minus amount charged. */
  remainingMicro: bigint
  /** Amount charged in the last seven days. */
  weekMicro: bigint
  /** By lineage, of its working key. Absent if the lineage has no working key or the key has no limit. */
  windows: ReadonlyMap<string, { limit: NonNullable<KeyRecord['limit']>; window: KeyWindow }>
  /** By ID. Absent if the budget was removed. */
  budgets: ReadonlyMap<string, NoticedBudget>
  /** Since when, by webhook. Unix milliseconds. */
  failingSince: ReadonlyMap<string, number>
}

interface NoticedBudget {
  limitMicro: bigint
  hard: boolean
  /** Spent in the month that begins at `windowStart`. */
  spentMicro: bigint
  windowStart: Date
}

const WEEK_DAYS = 7n
const DAY_MS = 86_400_000

/** Whether an event is still open: a rotation or leak for a day, a failing webhook while it fails. */
export function isOpenEvent({ kind, details, at }: WrittenNotice, { now, failingSince }: NoticeFacts): boolean {
  if (kind !== 'webhook.failing') return now.getTime() - at.getTime() < DAY_MS
  return failingSince.get(noticeDetails.parse(details).webhook ?? '') === at.getTime()
}

/** Whether the threshold of a notice is still crossed (money §10.1). One of a key or a budget applies only to its own window. */
export function isCrossed(notice: WrittenNotice, facts: NoticeFacts): boolean {
  const { kind, threshold, lineage, windowStart } = notice
  if (threshold === null) return false
  if (kind === 'wallet.below') return facts.remainingMicro < threshold
  if (kind === 'wallet.days_left') return facts.remainingMicro * WEEK_DAYS < threshold * facts.weekMicro
  if (kind === 'budget.percent') return isBudgetCrossed(notice, facts)
  const now = lineage === null ? undefined : facts.windows.get(lineage)
  if (!now) return false
  const { startsAt, spentMicro } = now.window
  const isSameWindow = startsAt === null || Date.parse(startsAt) === windowStart?.getTime()
  return isSameWindow && BigInt(spentMicro) * 100n >= BigInt(now.limit.micro) * threshold
}

/** By the limit of today. The notice of 100 percent that a refusal of a hard budget wrote holds until its limit is raised. */
function isBudgetCrossed({ threshold, lineage, windowStart, ...then }: WrittenNotice, facts: NoticeFacts): boolean {
  const budget = facts.budgets.get(lineage!)
  const [now, start] = [facts.now.getTime(), windowStart!.getTime()]
  if (budget?.windowStart.getTime() !== start || now >= windowEndMs('monthly', start)!) return false
  const wasEarly = then.spentMicro! * 100n < threshold! * then.limitMicro!
  if (wasEarly && budget.hard && budget.limitMicro <= then.limitMicro!) return true
  return budget.spentMicro * 100n >= threshold! * budget.limitMicro
}
