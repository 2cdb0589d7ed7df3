import type { CallerQuestion, RefusedCaller } from '@gateway/contracts/ledger-reads'
import type { RefusalCode } from '@gateway/contracts/refusal'
import type { Deps } from '../deps.ts'

interface CallerRow {
  id: string | null
  project: string | null
  refusal: RefusalCode | null
  rotated_to: string | null
  expires_at: Date | null
}

export interface Caller {
  id: string
  project: string
}

/** The key that is asked for, or its refusal: the views and the order of checks that admission has (decisions.md, 1). */
export async function readCaller(
  { reads: { prisma } }: Pick<Deps, 'reads'>,
  { keyHash, selector }: CallerQuestion,
): Promise<Caller | RefusedCaller> {
  const [caller] = await prisma.$queryRaw<CallerRow[]>`
    SELECT k.id, k.project, k.rotated_to, k.expires_at, money.key_refusal_v1(k, clock_timestamp()) AS refusal
      FROM (VALUES (decode(${keyHash}, 'hex'))) q (hash) LEFT JOIN money.callers k ON k.hash = q.hash`
  if (!caller?.id || !caller.project || caller.refusal)
    return refused(caller?.refusal ?? 'key_invalid', {
      rotatedTo: caller?.rotated_to ?? null,
      expiredAt: caller?.expires_at?.toISOString(),
    })
  if (selector !== null && selector !== caller.project) return refused('project_mismatch', { project: caller.project })
  return { id: caller.id, project: caller.project }
}

export function refused(code: RefusalCode, facts: Record<string, unknown>): RefusedCaller {
  return { refused: { code, facts } }
}
