import type { CallerQuestion, KeyAnswer, KeysAnswer, KeysQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { refused, type Refused } from '@gateway/ledger-protocol/ledger-refusal'
import { isoSeconds, type Reset, resetsAt } from '@gateway/pricing/spending-window'
import type { StoredCapture } from '@gateway/ledger-protocol/captured-content'
import { rulesOf } from '../content/record-content.ts'
import type { Deps, KeyUses } from '../deps.ts'
import { noRateLimits, type RateLimits } from '@gateway/api/rates'
import type { KeyStatus } from '@gateway/api/key-status'

export interface CallerRow {
  id: string | null
  project: string | null
  lineage: string
  refusal: KeyRefusalCode | null
  rotated_to: string | null
  expires_at: Date | null
  lists_sandbox: boolean
}

export interface Caller {
  id: string
  project: string
  lineage: string
  /** Whether the key lists the requested sandbox product. The products of its flow are not checked. */
  listsSandbox: boolean
}

/**
 * SQL for one `CallerRow`: the same views and checks as admission (rules §2.3).
 * @param hash expression of the key's hash in hex
 * @param sandbox expression of a sandbox product's id, or null
 */
export function callerQuery(hash: string, sandbox: string): string {
  return `
    SELECT k.id, k.project, k.lineage, k.rotated_to, k.expires_at, money.key_refusal(k, clock_timestamp()) AS refusal,
           money.unlisted_resource(k.id, k.policy, ${sandbox}, '{}') IS NULL AS lists_sandbox
      FROM (VALUES (decode(${hash}, 'hex'))) q (hash) LEFT JOIN money.callers k ON k.hash = q.hash`
}

const CALLER = callerQuery('$1', 'NULL')

/** Returns the key, or its refusal. */
export async function readCaller({ reads }: Pick<Deps, 'reads'>, question: CallerQuestion): Promise<Caller | Refused> {
  const [caller] = await reads.sql.query<CallerRow>(CALLER, [question.keyHash])
  return decideCaller(caller!, question)
}

/** Returns the key of a row, or its refusal, in the order of admission (rules §2.3). */
export function decideCaller(
  { id, project, lineage, refusal, rotated_to, expires_at, lists_sandbox }: CallerRow,
  { selector }: CallerQuestion,
): Caller | Refused {
  if (id === null || project === null || refusal !== null)
    return keyRefused(refusal ?? 'key_invalid', rotated_to, expires_at)
  if (selector !== null && selector !== project) return refused('project_mismatch', { project })
  return { id, project, lineage, listsSandbox: lists_sandbox }
}

interface IdentifiedRow extends Pick<
  CallerRow,
  'id' | 'lineage' | 'project' | 'refusal' | 'rotated_to' | 'expires_at'
> {
  key_rates: Partial<RateLimits> | null
  project_rates: Partial<RateLimits> | null
  capture: StoredCapture
}

/**
 * Whether each key exists and is in force, and its project. What can be undone is not checked: whether the key is paused,
 * and whether its creator may still issue it.
 */
export async function identifyKeys({ reads }: Pick<Deps, 'reads'>, { keyHashes }: KeysQuestion): Promise<KeysAnswer> {
  const rows = await reads.sql.query<IdentifiedRow>(
    `SELECT k.id, k.lineage, k.project, k.rotated_to, k.expires_at, money.key_refusal(k, clock_timestamp()) AS refusal,
            key.rates AS key_rates, project.rates AS project_rates, project.capture
       FROM unnest($1::text[]) WITH ORDINALITY q (hash, n)
       LEFT JOIN money.callers k ON k.hash = decode(q.hash, 'hex')
       LEFT JOIN control.keys key ON key.id = k.id
       LEFT JOIN control.projects project ON project.id = k.project
      ORDER BY q.n`,
    [keyHashes],
  )
  return {
    keys: rows.map(({ id, lineage, project, refusal, rotated_to, expires_at, key_rates, project_rates, capture }) =>
      id === null ||
      project === null ||
      (refusal !== null && refusal !== 'key_paused' && refusal !== 'key_issuer_denied')
        ? keyRefused(refusal ?? 'key_invalid', rotated_to, expires_at)
        : {
            key: id,
            lineage,
            project,
            rates: { key: { ...noRateLimits, ...key_rates }, project: { ...noRateLimits, ...project_rates } },
            capture: rulesOf(capture),
          },
    ),
  }
}

/** Why a key by itself can call nothing, as money.key_refusal returns it. */
export type KeyRefusalCode =
  | 'key_invalid'
  | 'key_revoked'
  | 'key_expired'
  | 'key_paused'
  | 'key_unbound'
  | 'key_issuer_denied'

export function keyRefused(code: KeyRefusalCode, rotatedTo: string | null, expiresAt: Date | null): Refused {
  switch (code) {
    case 'key_revoked':
      return refused(code, { rotatedTo })
    case 'key_expired':
      return refused(code, { expiredAt: isoSeconds(expiresAt!) })
    case 'key_issuer_denied':
      return refused(code, { use: true })
    case 'key_invalid':
    case 'key_paused':
    case 'key_unbound':
      return refused(code, {})
  }
}

/** Records when keys were last used: collected here and written periodically, so that no admission pays for it. */
export function openKeyUses({ reads: { prisma } }: Pick<Deps, 'reads'>): KeyUses {
  let used = new Set<string>()
  return {
    note: (key) => void used.add(key),
    async write() {
      if (used.size === 0) return
      const writing = used
      used = new Set()
      try {
        await prisma.$executeRaw`
          INSERT INTO money.key_uses AS u (key, last_used_at) SELECT unnest(${[...writing].toSorted()}::text[]), clock_timestamp()
          ON CONFLICT (key) DO UPDATE SET last_used_at = excluded.last_used_at`
      } catch (error) {
        used = used.union(writing)
        throw error
      }
    },
  }
}

interface KeyRow {
  id: string
  tenant: string
  project: string
  rotated_to: string | null
  policy: KeyStatus['policy']
  resources: string[]
  limit_micro: bigint | null
  limit_reset: Reset | null
  rates: Partial<RateLimits>
  expires_at: Date | null
  window_start: Date | null
  spent: bigint
  reserved: bigint
}

/**
 * Returns what a key is and has left in its window, refused as admission would refuse it. A window that has rolled over
 * shows zero.
 */
export async function readKeyStatus(deps: Pick<Deps, 'reads'>, question: CallerQuestion): Promise<KeyAnswer> {
  const caller = await readCaller(deps, question)
  if ('refused' in caller) return caller
  const [row] = await deps.reads.prisma.$queryRaw<[KeyRow]>`
    SELECT k.id, k.tenant, k.project, k.rotated_to, k.policy, k.limit_micro, k.limit_reset, k.rates, k.expires_at,
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
    rates: { ...noRateLimits, ...row.rates },
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
