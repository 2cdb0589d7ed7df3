import type { KeyStatus } from '@gateway/contracts/key-status'
import type { CallerQuestion, KeyAnswer } from '@gateway/contracts/ledger-reads'
import { resetsAt, type Reset } from '@gateway/money/spending-window'
import type { Deps } from '../deps.ts'
import { readCaller } from './read-caller.ts'

interface KeyRow {
  id: string
  tenant: string
  project: string
  rotated_to: string | null
  policy: KeyStatus['policy']
  resources: string[]
  limit_micro: bigint | null
  limit_reset: Reset | null
  expires_at: Date | null
  window_start: Date | null
  spent: bigint
  reserved: bigint
}

/**
 * What a key is and has left in its window, refused as admission would refuse it. A window that has rolled shows zero.
 */
export async function readKeyStatus(deps: Pick<Deps, 'reads'>, question: CallerQuestion): Promise<KeyAnswer> {
  const caller = await readCaller(deps, question)
  if ('refused' in caller) return caller
  const [row] = await deps.reads.prisma.$queryRaw<[KeyRow]>`
    SELECT k.id, k.tenant, k.project, k.rotated_to, k.policy, k.limit_micro, k.limit_reset, k.expires_at,
           ARRAY (SELECT r.resource FROM control.key_resources r WHERE r.key = k.id ORDER BY r.resource) AS resources,
           greatest(t.window_start, n.window_start) AS window_start, -- as admission: a window never moves back
           CASE WHEN t.window_start >= n.window_start THEN t.spent ELSE 0 END AS spent,
           CASE WHEN t.window_start >= n.window_start THEN t.reserved ELSE 0 END AS reserved
      FROM control.keys k
      LEFT JOIN money.meters t ON t.lineage = k.lineage
      CROSS JOIN (SELECT clock_timestamp() AS moment) c
      CROSS JOIN LATERAL (SELECT money.window_start(k.limit_reset, c.moment) AS window_start) n
     WHERE k.id = ${caller.id}`
  return { key: statusOf(row) }
}

function statusOf(row: KeyRow): KeyStatus {
  return {
    object: 'key',
    id: row.id,
    tenant: row.tenant,
    project: row.project,
    state: row.rotated_to === null ? 'Active' : 'Rotated',
    policy: row.policy,
    ...(row.policy === 'listed' && { resources: row.resources }),
    ...spendingOf(row),
    expiresAt: row.expires_at?.toISOString() ?? null,
  }
}

function spendingOf({ limit_micro, limit_reset, window_start, spent, reserved }: KeyRow) {
  if (limit_micro === null || limit_reset === null || window_start === null)
    return { limit: null, spentMicro: null, reservedMicro: null, remainingMicro: null, resetsAt: null }
  return {
    limit: { micro: Number(limit_micro), reset: limit_reset },
    spentMicro: Number(spent),
    reservedMicro: Number(reserved),
    remainingMicro: Number(limit_micro - spent - reserved),
    resetsAt: resetsAt(limit_reset, window_start.toISOString()),
  }
}
