import type { KeyRecord, KeyWindow } from '@gateway/api/console/keys'
import type { ConsoleDeps } from '../deps.ts'
import { databaseNow, inState, keyWindow, limitOf } from '../keys/key-record.ts'

type Deps = Pick<ConsoleDeps, 'prisma'>

/**
 * Returns the ids of the open notices: threshold crossed now, and no newer notice for the same threshold (money §10.1).
 */
export async function openNotices(deps: Deps, project: string, notices: WrittenNotice[]): Promise<Set<string>> {
  if (notices.length === 0) return new Set()
  const facts = await readFacts(deps, project, notices)
  const crossed = notices.filter((notice) => isCrossed(notice, facts)).map(({ id }) => id)
  if (crossed.length === 0) return new Set()
  const newest = await deps.prisma.$queryRaw<{ id: string }[]>`
    SELECT n.id FROM money.notices n
     WHERE n.project = ${project} AND n.id = ANY (${crossed})
       AND NOT EXISTS (SELECT FROM money.notices l
                        WHERE l.project = n.project AND l.kind = n.kind AND l.threshold = n.threshold
                          AND l.lineage IS NOT DISTINCT FROM n.lineage AND (l.at, l.id) > (n.at, n.id))`
  return new Set(newest.map(({ id }) => id))
}

async function readFacts({ prisma }: Deps, project: string, notices: WrittenNotice[]): Promise<NoticeFacts> {
  const lineages = [...new Set(notices.flatMap(({ lineage }) => lineage ?? []))]
  const hasPace = notices.some(({ kind }) => kind === 'wallet.days_left')
  const [wallet, weekMicro, windows] = await Promise.all([
    prisma.wallet.findUnique({ where: { project } }),
    hasPace ? chargedInAWeek(prisma, project) : 0n,
    lineages.length === 0 ? new Map() : windowsOf(prisma, project, lineages),
  ])
  return { remainingMicro: (wallet?.funded ?? 0n) - (wallet?.settled ?? 0n), weekMicro, windows }
}

/** Charges of the last week, as the ledger computes them for notices (`notify_days_left`). */
async function chargedInAWeek(prisma: Deps['prisma'], project: string): Promise<bigint> {
  const [row] = await prisma.$queryRaw<[{ micro: bigint }]>`
    SELECT coalesce(sum(micro), 0)::bigint AS micro FROM money.usage_hours
     WHERE project = ${project} AND hour > clock_timestamp() - interval '7 days'`
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
  threshold: bigint
  lineage: string | null
  windowStart: Date | null
}

/** Current amounts. Micro-USD. */
export interface NoticeFacts {
  /** Amount funded minus amount charged. */
  remainingMicro: bigint
  /** Amount charged in the last seven days. */
  weekMicro: bigint
  /** By lineage, of its working key. Absent if the lineage has no working key or the key has no limit. */
  windows: ReadonlyMap<string, { limit: NonNullable<KeyRecord['limit']>; window: KeyWindow }>
}

const WEEK_DAYS = 7n

/** Whether the threshold of a notice is still crossed (money §10.1). A key notice applies only to its own window. */
export function isCrossed({ kind, threshold, lineage, windowStart }: WrittenNotice, facts: NoticeFacts): boolean {
  if (kind === 'wallet.below') return facts.remainingMicro < threshold
  if (kind === 'wallet.days_left') return facts.remainingMicro * WEEK_DAYS < threshold * facts.weekMicro
  const now = lineage === null ? undefined : facts.windows.get(lineage)
  if (!now) return false
  const { startsAt, spentMicro } = now.window
  const isSameWindow = startsAt === null || Date.parse(startsAt) === windowStart?.getTime()
  return isSameWindow && BigInt(spentMicro) * 100n >= BigInt(now.limit.micro) * threshold
}
