import { callFunction } from '@gateway/database/call-function'
import type { ProviderReport } from '@gateway/ledger-protocol/provider-report'
import type { Deps } from '../deps.ts'

/** Counts what a process saw of its providers, and keeps the latest failures of each. Safe to repeat. */
export async function recordProviders(
  { reads }: Pick<Deps, 'reads'>,
  { sender, service, number, startedAgoMs, providers, counts, failures }: ProviderReport,
): Promise<object> {
  await callFunction(reads.sql, 'money.record_providers', {
    of_sender: sender,
    of_service: service,
    number,
    started_ago_ms: startedAgoMs,
    providers: JSON.stringify(providers),
    counts: JSON.stringify(counts),
    failures: JSON.stringify(failures),
  })
  return {}
}
