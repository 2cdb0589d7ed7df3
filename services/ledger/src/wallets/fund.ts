import type { Funding } from '@gateway/contracts/ledger-reads'
import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'

/**
 * Brings money into a project's wallet, once per funding id (money §5.2). `micro` is what stands under that id.
 */
export async function fund(
  { reads }: Pick<Deps, 'reads'>,
  { project, fundingId, micro, fundedBy }: Funding,
): Promise<{ fresh: boolean; micro: number }> {
  const { fresh, recorded } = await callFunction(reads.sql, 'money.fund', {
    to_project: project,
    funding: fundingId,
    amount_micro: micro,
    by_person: fundedBy,
  })
  return { fresh, micro: Number(recorded) }
}
