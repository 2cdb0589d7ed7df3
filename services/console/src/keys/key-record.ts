import type { KeyRecord } from '@gateway/contracts/console/keys'
import type { Transaction } from '../audit/record-change.ts'
import { hideSandboxes, projectsOpenTo } from '../permissions/hidden-sandboxes.ts'
import { keyState, type KeyDates } from './key-state.ts'
import { keyWindow } from './key-window.ts'

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
 * Keys as the API shows them to a person, with their allowlists, their windows and their last use. Of sandbox products on an allowlist they see only
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
