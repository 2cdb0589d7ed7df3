import type { Key } from '@gateway/database/models'
import type { KeyRecord, KeyState, KeyWindow } from '@gateway/api/console/keys'
import { rateLimits } from '@gateway/api/rates'
import type { Transaction } from '../audit/record-change.ts'
import { hideSandboxes, projectsOpenTo } from '../permissions/visible-projects.ts'
import type { Prisma } from '@gateway/database/client'
import { isoSeconds, resetsAt, windowStartMs } from '@gateway/pricing/spending-window'

/** Stored key, without the columns that never leave the table. */
export type KeyRow = Omit<Key, 'hash' | 'tenant' | 'expiryDays' | 'issuedAt' | 'madeWith'>

/**
 * Returns keys as the API shows them, with allowlist, spending window and last use. Sandbox products on an allowlist
 * are hidden from readers who may not use them.
 * @param reader null: the key itself, which may use them
 */
export async function keyRecords(
  prisma: Transaction,
  keys: KeyRow[],
  now: Date,
  reader: string | null,
): Promise<KeyRecord[]> {
  const where = { key: { in: keys.map(({ id }) => id) } }
  const limited = keys.filter(({ limitMicro }) => limitMicro !== null)
  const replaced = keys.filter(({ rotatedTo }) => rotatedTo !== null)
  const [resources, uses, meters, replacements] = await Promise.all([
    prisma.keyResource.findMany({ where, orderBy: { resource: 'asc' } }),
    prisma.keyUse.findMany({ where }),
    limited.length === 0
      ? []
      : prisma.meter.findMany({ where: { lineage: { in: limited.map(({ lineage }) => lineage) } } }),
    replaced.length === 0
      ? []
      : prisma.key.findMany({
          where: { rotatedFrom: { in: replaced.map(({ id }) => id) } },
          select: { rotatedFrom: true, rotatedBy: true, createdAt: true },
        }),
  ])
  const projects = keys.flatMap(({ project }) => project ?? [])
  const open = reader === null ? new Set(projects) : await projectsOpenTo(prisma, reader, projects)
  const listed = Map.groupBy(resources, ({ key }) => key)
  const lastUse = new Map(uses.map(({ key, lastUsedAt }) => [key, lastUsedAt]))
  const meterOf = new Map(meters.map((meter) => [meter.lineage, meter]))
  const replacementOf = new Map(replacements.map((row) => [row.rotatedFrom, row]))
  return keys.map((key) => ({
    id: key.id,
    name: key.name,
    project: key.project,
    prefix: key.prefix,
    state: keyState(key, now),
    policy: key.policy as KeyRecord['policy'],
    resources: shown(
      listed.get(key.id)?.map(({ resource }) => resource),
      key.project !== null && open.has(key.project),
    ),
    limit: limitOf(key),
    window: keyWindow(limitOf(key), meterOf.get(key.lineage), now),
    tag: key.tag,
    rates: rateLimits.parse(key.rates),
    createdBy: key.createdBy,
    createdAt: key.createdAt.toISOString(),
    issuedBy: key.rotatedBy ?? key.createdBy,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    pausedAt: key.pausedAt?.toISOString() ?? null,
    lastUsedAt: lastUse.get(key.id)?.toISOString() ?? null,
    rotatedFrom: key.rotatedFrom,
    rotatedTo: key.rotatedTo,
    rotatedBy: replacementOf.get(key.id)?.rotatedBy ?? null,
    rotatedAt: replacementOf.get(key.id)?.createdAt.toISOString() ?? null,
    graceUntil: key.graceUntil?.toISOString() ?? null,
  }))
}

/** Returns one key as the API shows it. */
export async function keyRecord(
  prisma: Transaction,
  key: KeyRow,
  now: Date,
  reader: string | null,
): Promise<KeyRecord> {
  const [record] = await keyRecords(prisma, [key], now, reader)
  return record!
}

function shown(resources: string[] = [], mayUseSandboxes: boolean): string[] {
  return mayUseSandboxes ? resources : hideSandboxes(resources)
}

/** Returns the limit of a key as the API shows it; null: no limit. */
export function limitOf({ limitMicro, limitReset }: Pick<KeyRow, 'limitMicro' | 'limitReset'>): KeyRecord['limit'] {
  if (limitMicro === null || limitReset === null) return null
  return { micro: Number(limitMicro), reset: limitReset as NonNullable<KeyRecord['limit']>['reset'] }
}

/** Columns from which the state of a key is derived. The state is never stored. */
export type KeyDates = Pick<Key, 'project' | 'revokedAt' | 'pausedAt' | 'rotatedTo' | 'graceUntil' | 'expiresAt'>

/**
 * Returns the state that the console shows (rules §6.3). In state `Rotated`, `graceUntil` tells whether the old secret still works.
 */
export function keyState({ project, revokedAt, pausedAt, rotatedTo, expiresAt }: KeyDates, now: Date): KeyState {
  if (revokedAt !== null) return 'Revoked'
  if (project === null) return 'NeedsReissue'
  if (rotatedTo !== null) return 'Rotated'
  if (expiresAt !== null && expiresAt <= now) return 'Expired'
  return pausedAt === null ? 'Active' : 'Paused'
}

/** Database condition for keys in a state. */
export function inState(state: KeyState, now: Date): Prisma.KeyWhereInput {
  const bound = { revokedAt: null, project: { not: null } }
  switch (state) {
    case 'Revoked':
      return { revokedAt: { not: null } }
    case 'NeedsReissue':
      return { revokedAt: null, project: null }
    case 'Rotated':
      return { ...bound, rotatedTo: { not: null } }
    case 'Expired':
      return { ...bound, rotatedTo: null, expiresAt: { lte: now } }
    case 'Paused':
    case 'Active':
      return {
        ...bound,
        rotatedTo: null,
        pausedAt: state === 'Active' ? null : { not: null },
        OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
      }
  }
}

/**
 * Whether revoking would have an effect, as it does for a legacy key, and for an expired key or one with a grace period,
 * whose running executions it stops. Those of a key that was rotated without grace end with its replacement.
 */
export function canBeRevoked({ revokedAt, rotatedTo, graceUntil }: KeyDates): boolean {
  return revokedAt === null && (rotatedTo === null || graceUntil !== null)
}

/** Stored meter of the window in which its lineage last called. Micro-USD. */
export interface Meter {
  windowStart: Date
  spent: bigint
  reserved: bigint
}

/**
 * Returns the current window as an admission sees it (money §6). If it started after the meter last changed, its
 * amounts are 0. A window that has passed never becomes current again.
 */
export function keyWindow(limit: KeyRecord['limit'], meter: Meter | undefined, now: Date): KeyWindow | null {
  if (limit === null) return null
  const { micro, reset } = limit
  const startMs = windowStartMs(reset, now.getTime())
  const metered = meter && meter.windowStart.getTime() >= startMs ? meter : null
  const start = metered?.windowStart ?? new Date(startMs)
  const [spent, reserved] = [metered?.spent ?? 0n, metered?.reserved ?? 0n]
  return {
    spentMicro: Number(spent),
    reservedMicro: Number(reserved),
    remainingMicro: Number(BigInt(micro) - spent - reserved),
    startsAt: reset === 'lifetime' ? null : isoSeconds(start),
    resetsAt: resetsAt(reset, start.toISOString()),
  }
}

/** Returns the time of the database, which decides the lifetime of every key, so the console's clock doesn't matter. */
export async function databaseNow(prisma: Transaction): Promise<Date> {
  const [row] = await prisma.$queryRaw<[{ now: Date }]>`SELECT clock_timestamp()::timestamptz(3) AS now`
  return row.now
}
