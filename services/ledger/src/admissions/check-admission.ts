import type { CheckedAdmission, CheckQuestion } from '@gateway/ledger-protocol/ledger-reads'
import { callFunction } from '@gateway/database/call-function'
import type { Sql } from '@gateway/database/client'
import type { Deps } from '../deps.ts'
import { type AdmissionColumns, admitOutcome } from './run-batch.ts'

/** A hash in hex that no secret has. */
const NO_HASH = '00'.repeat(32)

/**
 * Returns whether a call like this would be admitted now. The admission function decides, in a read-only transaction;
 * it does not see concurrent reservations.
 */
export async function checkAdmission(
  { reads }: Pick<Deps, 'reads'>,
  { caller, tag, model, parameters, promptSize }: CheckQuestion,
): Promise<CheckedAdmission> {
  const { decision } = await reads.sql.transaction(async (sql) => {
    await sql.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    return callFunction(sql, 'money.check_admission', {
      caller: { keyHash: 'key' in caller ? await hashOf(sql, caller.key) : caller.keyHash, model, tag },
      item: {
        id: 'check',
        pair: 1,
        selector: 'key' in caller ? null : caller.selector,
        parameters,
        promptSize,
      },
    })
  })
  const { code, facts, micro, outputCap } = JSON.parse(decision) as AdmissionColumns
  const bound = { boundMicro: micro[0] ?? null, outputCap: outputCap[0] ?? null }
  if (code[0] === 'admitted') return { refusal: null, ...bound }
  if (code[0] === 'would_admit') return { refusal: { code: 'unavailable', facts: {} }, ...bound }
  const outcome = admitOutcome({ code: code[0]!, facts: facts[0] ?? {} }, { op: 'admit', model }, {})
  if (outcome.kind !== 'refused') throw new Error(`a check returned ${outcome.kind}`)
  return { refusal: outcome, ...bound }
}

async function hashOf(sql: Sql, key: string): Promise<string> {
  const [row] = await sql.query<{ hash: string }>(
    "SELECT encode(hash, 'hex') AS hash FROM control.keys WHERE id = $1",
    [key],
  )
  return row?.hash ?? NO_HASH
}
