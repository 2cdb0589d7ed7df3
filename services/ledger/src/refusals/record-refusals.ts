import type { RefusalReport } from '@gateway/ledger-protocol/ledger-refusal'
import { callFunction } from '@gateway/database/call-function'
import type { Deps } from '../deps.ts'

/** Counts a gateway's refusals by project, key, code and hour, and keeps the latest of each project. Safe to repeat. */
export async function recordRefusals(
  { reads }: Pick<Deps, 'reads'>,
  { sender, number, counts, latest }: RefusalReport,
): Promise<object> {
  await callFunction(reads.sql, 'money.record_refusals', {
    of_sender: sender,
    number,
    c_hash: counts.map(({ keyHash }) => keyHash),
    c_code: counts.map(({ code }) => code),
    c_count: counts.map(({ count }) => count),
    l_hash: latest.map(({ keyHash }) => keyHash),
    l_code: latest.map(({ code }) => code),
    l_model: latest.map(({ model }) => model),
    l_request: latest.map(({ request }) => request),
    l_ago_ms: latest.map(({ agoMs }) => agoMs),
  })
  return {}
}
