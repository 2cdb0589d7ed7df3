import type { KeyRecord, KeyState, KeyWindow } from '@gateway/api/console/keys'
import type { Transaction } from '../audit/record-change.ts'
import { hideSandboxes, projectsOpenTo } from '../permissions/visible-projects.ts'
import type { Prisma } from '@gateway/database/client'
import { isoSeconds, resetsAt, windowStartMs } from '@gateway/pricing/spending-window'

/** A key as it is stored, less what never leaves the table. */
export interface KeyRow extends KeyDates {
  id: string
  name: string
  prefix: string
  lineage: string
  policy: string
  limitMicro: bigint | null
  limitReset: string | null
  createdBy: string
  createdAt: Date
  rotatedFrom: string | null
}

/**
 * Keys as the API shows them to a user, with their allowlists, their windows and their last use. Of sandbox products on an allowlist they see only
 * those that they may use. @param reader null: the key itself, which may use them
 */
export async function keyRecords(
  prisma: Transaction,
  keys: KeyRow[],
  now: Date,
  reader: string | null,
): Promise<KeyRecord[]> {
  const where = { key: { in: keys.map(({ id }) => id) } }
  const limited = keys.filter(({ limitMicro }) => limitMicro !== null)
  const [resources, uses, meters] = await Promise.all([
    prisma.keyResource.findMany({ where, orderBy: { resource: 'asc' } }),
    prisma.keyUse.findMany({ where }),
    limited.length === 0
      ? []
      : prisma.meter.findMany({ where: { lineage: { in: limited.map(({ lineage }) => lineage) } } }),
  ])
  const projects = keys.flatMap(({ project }) => project ?? [])
  const open = reader === null ? new Set(projects) : await projectsOpenTo(prisma, reader, projects)
  const listed = Map.groupBy(resources, ({ key }) => key)
  const lastUse = new Map(uses.map(({ key, lastUsedAt }) => [key, lastUsedAt]))
  const meterOf = new Map(meters.map((meter) => [meter.lineage, meter]))
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
    createdBy: key.createdBy,
    createdAt: key.createdAt.toISOString(),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    lastUsedAt: lastUse.get(key.id)?.toISOString() ?? null,
    rotatedFrom: key.rotatedFrom,
    rotatedTo: key.rotatedTo,
  }))
}

/** One of them. */
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

/** The limit of a key as the API has it; null: none. */
export function limitOf({ limitMicro, limitReset }: Pick<KeyRow, 'limitMicro' | 'limitReset'>): KeyRecord['limit'] {
  if (limitMicro === null || limitReset === null) return null
  return { micro: Number(limitMicro), reset: limitReset as NonNullable<KeyRecord['limit']>['reset'] }
}

/** What the state of a key is derived from; it is never stored. */
export interface KeyDates {
  /** null: a legacy key, unbound forever. */
  project: string | null
  revokedAt: Date | null
  rotatedTo: string | null
  graceUntil: Date | null
  expiresAt: Date | null
}

/** The state that the console shows (rules §6.3). `Rotated` says nothing of whether the grace has ended. */
export function keyState({ project, revokedAt, rotatedTo, expiresAt }: KeyDates, now: Date): KeyState {
  if (revokedAt !== null) return 'Revoked'
  if (project === null) return 'NeedsReissue'
  if (rotatedTo !== null) return 'Rotated'
  if (expiresAt !== null && expiresAt <= now) return 'Expired'
  return 'Active'
}

/** The keys of a state, as the database finds them. */
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
    case 'Active':
      return { ...bound, rotatedTo: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] }
  }
}

/** Whether revoking would still take something away: also from a rotated key in its grace, and from a legacy one. */
export function canBeRevoked(key: KeyDates, now: Date): boolean {
  const state = keyState(key, now)
  if (state === 'Rotated') return key.graceUntil !== null && key.graceUntil > now
  return state === 'Active' || state === 'NeedsReissue'
}

/** A meter as it is stored: that of the window in which its lineage last called. Micro-USD. */
export interface Meter {
  windowStart: Date
  spent: bigint
  reserved: bigint
}

/**
 * What the window has that runs now, as an admission sees it (money §6): one that has begun since the meter was last moved is
 * untouched, and one that was left is never gone back to.
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

/** The database's clock, which decides about every key's life: a console whose clock is wrong changes nothing. */
export async function databaseNow(prisma: Transaction): Promise<Date> {
  const [row] = await prisma.$queryRaw<[{ now: Date }]>`SELECT clock_timestamp()::timestamptz(3) AS now`
  return row.now
}
