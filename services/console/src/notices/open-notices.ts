import type { KeyRecord, KeyWindow } from '@gateway/api/console/keys'
import { noticeDetails } from '@gateway/api/console/notices'
import type { ConsoleDeps } from '../deps.ts'
import { windowEndMs } from '@gateway/pricing/spending-window'
import { databaseNow, inState, keyWindow, limitOf } from '../keys/key-record.ts'

type Deps = Pick<ConsoleDeps, 'prisma'>

/**
 * Returns the ids of the open notices: threshold crossed now, and no newer notice for the same threshold; or an event
 * that is new or lasts (money §10.1).
 */
export async function openNotices(deps: Deps, project: string, notices: WrittenNotice[]): Promise<Set<string>> {
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
  const hasFailing = notices.some(({ kind }) => kind === 'webhook.failing')
  const [now, wallet, weekMicro, windows, failing] = await Promise.all([
    databaseNow(prisma),
    prisma.wallet.findUnique({ where: { project } }),
    hasPace ? chargedInAWeek(prisma, project) : 0n,
    lineages.length === 0 ? new Map() : windowsOf(prisma, project, lineages),
    hasFailing ? prisma.webhook.findMany({ where: { project, failingSince: { not: null } } }) : [],
  ])
  const failingSince = new Map(failing.map((webhook) => [webhook.id, webhook.failingSince?.getTime() ?? 0]))
  const remainingMicro = (wallet?.funded ?? 0n) - (wallet?.settled ?? 0n)
  return { now, remainingMicro, weekMicro, windows, failingSince }
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
  /** Since when, by webhook. Unix milliseconds. */
  failingSince: ReadonlyMap<string, number>
}

const WEEK_DAYS = 7n
const DAY_MS = 86_400_000

/** Whether an event is still open: a rotation or leak for a day, a failing webhook while it fails. */
export function isOpenEvent({ kind, details, at }: WrittenNotice, { now, failingSince }: NoticeFacts): boolean {
  if (kind !== 'webhook.failing') return now.getTime() - at.getTime() < DAY_MS
  return failingSince.get(noticeDetails.parse(details).webhook ?? '') === at.getTime()
}

/** Whether the threshold of a notice is still crossed (money §10.1). One of a key or a budget applies only to its own window. */
export function isCrossed({ kind, threshold, lineage, windowStart }: WrittenNotice, facts: NoticeFacts): boolean {
  if (threshold === null) return false
  if (kind === 'wallet.below') return facts.remainingMicro < threshold
  if (kind === 'wallet.days_left') return facts.remainingMicro * WEEK_DAYS < threshold * facts.weekMicro
  if (kind === 'budget.percent') return facts.now.getTime() < windowEndMs('monthly', windowStart!.getTime())! // spending only rises
  const now = lineage === null ? undefined : facts.windows.get(lineage)
  if (!now) return false
  const { startsAt, spentMicro } = now.window
  const isSameWindow = startsAt === null || Date.parse(startsAt) === windowStart?.getTime()
  return isSameWindow && BigInt(spentMicro) * 100n >= BigInt(now.limit.micro) * threshold
}
