import { describe, expect, test } from 'vitest'
import {
  type ProviderReport,
  type ProviderReportAnswer,
  providerReport,
  providerReportLimits,
  type RouteTest,
} from '@gateway/ledger-protocol/provider-report'
import { LedgerUnavailable } from './call-operation.ts'
import { openProviderReporter, type ProviderEvent } from './provider-reporter.ts'

const route = { provider: 'first', model: 'm-1' }
const reference = { product: 'acme/swift', invocation: 'inv_1' }
const failed = (facts: object = {}, afterAnswer = false): ProviderEvent => ({
  kind: 'failed',
  route,
  reference,
  afterAnswer,
  project: 'prj_1',
  failure: { kind: 'refused', retryable: true, providerStatus: 503, providerCode: undefined, ...facts },
})
const answered = (latencyMs: number, model = 'm-1'): ProviderEvent => ({
  kind: 'answered',
  route: { ...route, model },
  reference,
  latencyMs,
})

/** Opens a reporter whose ledger accepts reports, or is unavailable. */
function open({
  away = false,
  tests = [],
  circuit = 'closed',
}: { away?: boolean; tests?: RouteTest[]; circuit?: 'closed' | 'open' } = {}) {
  const state = { circuit, nowMs: 1_000_000 }
  const reports: ProviderReport[] = []
  const warnings: object[] = []
  const answer = (): ProviderReportAnswer => {
    const test = tests.shift()
    return test ? { test } : {}
  }
  const reporter = openProviderReporter({
    ledger: {
      reportProviders(report) {
        reports.push(providerReport.parse(report))
        return away ? Promise.reject(new LedgerUnavailable({ why: 'unavailable' })) : Promise.resolve(answer())
      },
    },
    service: 'gateway',
    sender: 'gtw_1',
    providers: [{ name: 'first', kind: 'anthropic', credential: 'environment', credentialAt: null }],
    circuits: () => [{ provider: 'first', state: state.circuit }],
    test: () => Promise.resolve({ latencyMs: 7, failure: null }),
    log: { warn: (facts: object) => void warnings.push(facts) } as never,
    now: () => state.nowMs,
  })
  return { reporter, reports, warnings, state }
}

describe('a report about providers', () => {
  test('counts answers, failures, requests at fault and fallbacks by provider, model and product', async () => {
    const { reporter, reports } = open()
    for (const event of [
      answered(5),
      answered(9_000),
      answered(5, 'm-2'),
      failed(),
      failed({ kind: 'cut' }, true),
      failed({ retryable: false, providerStatus: 400, providerCode: 'x'.repeat(100) }),
      { kind: 'fell_back', route, reference } as const,
    ])
      reporter.observe(event)
    await reporter.stop()
    const [{ counts, failures }] = reports as [ProviderReport]
    const common = { ...route, product: 'acme/swift' }
    expect(counts).toMatchObject([
      { ...common, answered: 2, cut: 1, failed: 1, rejected: 1, fallbacks: 1 },
      { ...common, model: 'm-2', answered: 1, failed: 0 },
    ])
    expect(counts[0]!.latency.reduce((sum, count) => sum + count, 0)).toBe(2)
    expect(failures.map(({ status, code }) => [status, code])).toEqual([
      [503, null],
      [503, null],
      [400, 'x'.repeat(64)],
    ])
    expect(failures[0]).toMatchObject({ project: 'prj_1', invocation: 'inv_1' })
  })

  test('has the result of a test call that the ledger handed out, once', async () => {
    const test = { id: 'tst_1', provider: 'first', model: 'm-1', kind: 'chat' as const }
    const { reporter, reports } = open({ tests: [test] })
    await expect.poll(() => reports.length, { timeout: 5_000 }).toBe(2)
    await reporter.stop()
    expect(reports.map(({ tests }) => tests)).toEqual([
      undefined,
      [{ id: 'tst_1', latencyMs: 7, failure: null }],
      undefined,
    ])
  })

  test('is sent by itself, and has the configured providers with their circuits', async () => {
    const { reporter, reports } = open({ circuit: 'open' })
    reporter.circuitChanged()
    await expect.poll(() => reports.length, { timeout: 5_000 }).toBe(1)
    expect(reports[0]!.providers).toMatchObject([{ provider: 'first', credential: 'environment', circuit: 'open' }])
    await reporter.stop()
    expect(reports.at(-1)).toMatchObject({ number: 2, providers: [] })
  })

  test('has a circuit as closed once it counts as closed without a change', async () => {
    const { reporter, reports, state } = open({ circuit: 'open' })
    reporter.circuitChanged()
    await expect.poll(() => reports.length, { timeout: 5_000 }).toBe(1)
    state.circuit = 'closed'
    state.nowMs += 5_000
    await expect.poll(() => reports.length, { timeout: 5_000 }).toBe(2)
    expect(reports.map(({ providers }) => providers[0])).toMatchObject([
      { circuit: 'open', circuitAgoMs: 0 },
      { circuit: 'closed', circuitAgoMs: 0 },
    ])
    await reporter.stop()
  })

  test('has a bounded size, with the newest failures', async () => {
    const { reporter, reports } = open()
    for (let n = 0; n < providerReportLimits.counts + 50; n++) reporter.observe(answered(5, `m-${n}`))
    for (let n = 0; n < providerReportLimits.failures + 50; n++)
      reporter.observe({
        ...failed(),
        route: { ...route, model: 'm-1' },
        reference: { ...reference, invocation: `inv_${n}` },
      })
    await reporter.stop()
    expect(reports[0]!.counts).toHaveLength(providerReportLimits.counts)
    expect(reports[0]!.failures).toHaveLength(providerReportLimits.failures)
    expect(reports[0]!.failures.at(-1)).toMatchObject({ invocation: `inv_${providerReportLimits.failures + 49}` })
  })

  test('is dropped if the ledger does not accept it, and delays no call', async () => {
    const { reporter, reports, warnings } = open({ away: true })
    reporter.observe(answered(5))
    await expect.poll(() => warnings.length, { timeout: 5_000 }).toBe(1)
    await reporter.stop()
    expect(reports.map(({ counts }) => counts.length)).toEqual([1, 0])
  })
})
