import { callFunction } from '@gateway/database/call-function'
import type { ProviderReport, ProviderReportAnswer, RouteTest } from '@gateway/ledger-protocol/provider-report'
import type { Deps } from '../deps.ts'

/**
 * Counts what a process saw of its providers, and keeps the latest failures of each. Safe to repeat. Hands the process a
 * test call of one of its providers, if there is one.
 */
export async function recordProviders(
  { reads }: Pick<Deps, 'reads'>,
  { sender, service, number, startedAgoMs, providers, counts, failures, tests = [] }: ProviderReport,
): Promise<ProviderReportAnswer> {
  await callFunction(reads.sql, 'money.record_providers', {
    of_sender: sender,
    of_service: service,
    number,
    started_ago_ms: startedAgoMs,
    providers: JSON.stringify(providers),
    counts: JSON.stringify(counts),
    failures: JSON.stringify(failures),
  })
  const { test } = await callFunction(reads.sql, 'money.take_provider_test', {
    of_sender: sender,
    of_service: service,
    configured: providers.map(({ provider }) => provider),
    results: JSON.stringify(tests),
  })
  return test === null ? {} : { test: JSON.parse(test) as RouteTest }
}
