import type { Correction, CorrectionAnswer } from '@gateway/contracts/ledger-reads'
import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'

/**
 * Puts a wallet right by an amount with a sign, once per correction id (money §5.4). `micro` and `reason` are what stands
 * under that id. `short`: it would take more than is available, so nothing was done.
 */
export async function correct(
  { reads }: Pick<Deps, 'reads'>,
  { project, correctionId, micro, reason, correctedBy }: Correction,
): Promise<CorrectionAnswer> {
  const row = await callFunction(reads.sql, 'money.correct', {
    of_project: project,
    correction: correctionId,
    amount_micro: micro,
    why: reason,
    by_person: correctedBy,
  })
  if (row.outcome === 'short')
    return { kind: 'short', availableMicro: Number(row.available), reservedMicro: Number(row.reserved) }
  const [recorded, words] = [Number(row.recorded), row.recorded_reason!]
  return { kind: 'corrected', fresh: row.outcome === 'corrected', micro: recorded, reason: words }
}
