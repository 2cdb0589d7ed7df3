import type { CallerQuestion } from '@gateway/contracts/ledger-reads'
import { refused, type Refused } from '@gateway/contracts/ledger-refusal'
import { isoSeconds } from '@gateway/money/spending-window'
import type { Deps } from '../deps.ts'

interface CallerRow {
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
  /** Whether its list has the sandbox product that was asked about. What its flow calls is not looked at. */
  listsSandbox: boolean
}

/**
 * The key that is asked for, or its refusal: the views and the order of checks that admission has (rules §2.3).
 * @param sandbox asked about in the same statement
 */
export async function readCaller(
  { reads }: Pick<Deps, 'reads'>,
  { keyHash, selector }: CallerQuestion,
  sandbox: string | null = null,
): Promise<Caller | Refused> {
  const [caller] = await reads.sql.query<CallerRow>(
    `SELECT k.id, k.project, k.lineage, k.rotated_to, k.expires_at, money.key_refusal(k, clock_timestamp()) AS refusal,
            money.unlisted_resource(k.id, k.policy, $2, '{}') IS NULL AS lists_sandbox
       FROM (VALUES (decode($1, 'hex'))) q (hash) LEFT JOIN money.callers k ON k.hash = q.hash`,
    [keyHash, sandbox],
  )
  if (!caller?.id || !caller.project || caller.refusal)
    return keyRefused(caller?.refusal ?? 'key_invalid', caller?.rotated_to ?? null, caller?.expires_at ?? null)
  if (selector !== null && selector !== caller.project) return refused('project_mismatch', { project: caller.project })
  const { id, project, lineage } = caller
  return { id, project, lineage, listsSandbox: caller.lists_sandbox }
}

/** Why a key as such can call nothing, as money.key_refusal answers it. */
export type KeyRefusalCode = 'key_invalid' | 'key_revoked' | 'key_expired' | 'key_unbound' | 'key_issuer_denied'

export function keyRefused(code: KeyRefusalCode, rotatedTo: string | null, expiresAt: Date | null): Refused {
  switch (code) {
    case 'key_revoked':
      return refused(code, { rotatedTo })
    case 'key_expired':
      return refused(code, { expiredAt: isoSeconds(expiresAt!) })
    case 'key_issuer_denied':
      return refused(code, { use: true })
    case 'key_invalid':
    case 'key_unbound':
      return refused(code, {})
  }
}
