import { describe, expect } from 'vitest'
import { LATENCY_BUCKETS, type ProviderReport } from '@gateway/ledger-protocol/provider-report'
import { test as ledgerTest } from '../fixtures/ledger-test.ts'
import { cleanRetention } from '../maintenance/retention-cleaner.ts'
import { recordProviders } from './record-providers.ts'

const latency = (bucket: number, count: number) =>
  Array.from({ length: LATENCY_BUCKETS }, (_, n) => (n === bucket ? count : 0))
const nothing = { answered: 0, cut: 0, failed: 0, rejected: 0, fallbacks: 0, latency: latency(0, 0) }

const test = ledgerTest.extend('reports', async ({ fixture, replica, task }) => {
  let number = 0
  const sender = `gtw_${task.id}`
  const provider = `first-${task.id.replaceAll(/[^a-z0-9]/g, '')}`
  const route = { provider, model: 'm-1', product: 'acme/swift' }
  const state = {
    provider,
    kind: 'anthropic',
    credential: 'file' as const,
    credentialAgoMs: 86_400_000,
    circuit: 'closed' as const,
    circuitAgoMs: 0,
  }
  const report = (more: Partial<ProviderReport>): ProviderReport => ({
    sender,
    service: 'gateway',
    number: ++number,
    startedAgoMs: 5_000,
    providers: [state],
    counts: [],
    failures: [],
    ...more,
  })
  return {
    route,
    state,
    report,
    record: (more: Partial<ProviderReport>) => recordProviders(replica, report(more)),
    async rows(table: 'slots' | 'failures' | 'states') {
      const order = table === 'failures' ? 'at DESC, id DESC' : '1'
      const { rows } = await fixture.run(
        `SELECT to_jsonb(t) AS row FROM money.provider_${table} t WHERE provider = $1 ORDER BY ${order}`,
        [provider],
      )
      return rows.map(({ row }) => row as Record<string, unknown>)
    },
  }
})

const sumOf = (rows: Record<string, unknown>[], field: string) => rows.reduce((sum, row) => sum + Number(row[field]), 0)

describe('reports about providers', () => {
  test('add up by provider, model and product, with their latencies', async ({ reports }) => {
    const { route, record, rows } = reports
    await record({ counts: [{ ...route, ...nothing, answered: 2, cut: 1, latency: latency(3, 2) }] })
    await record({
      counts: [{ ...route, ...nothing, answered: 1, failed: 4, rejected: 5, fallbacks: 6, latency: latency(4, 1) }],
    })
    const slots = await rows('slots')
    const sums = ['answered', 'cut', 'failed', 'rejected', 'fallbacks'].map((field) => sumOf(slots, field))
    expect(sums).toEqual([3, 1, 4, 5, 6])
    const latencies = slots.map(({ latency }) => latency as number[])
    expect(latencies[0]!.map((_, n) => latencies.reduce((sum, each) => sum + each[n]!, 0))).toEqual(
      latency(3, 2).map((count, n) => count + latency(4, 1)[n]!),
    )
  })

  test('are answered with one test call of a configured provider, which one process takes once', async ({
    fixture,
    other,
    reports: { route, report, record },
    task,
  }) => {
    const add = (id: string, provider: string, secondsAgo = 0) =>
      fixture.run(
        `INSERT INTO control.provider_tests (id, provider, product, kind, model, requested_at)
         VALUES ($1, $2, 'acme/swift', 'chat', 'm-1', now() - $3::int * interval '1 second')`,
        [`${id}-${task.id}`, provider, secondsAgo],
      )
    await add('late', route.provider, 61)
    await add('first', route.provider, 2)
    await add('second', route.provider, 1)
    await add('elsewhere', 'unconfigured')
    const twin = (more: Partial<ProviderReport>) =>
      recordProviders(other, { ...report(more), sender: `twin-${task.id}` })
    const answers = await Promise.all([record({}), twin({})])
    const taken = { provider: route.provider, model: 'm-1', kind: 'chat' }
    expect(new Set(answers.map(({ test }) => test?.id))).toEqual(new Set([`first-${task.id}`, `second-${task.id}`]))
    expect(answers[0].test).toMatchObject(taken)
    expect(await record({})).toEqual({})
    const failure = { kind: 'refused', status: 401, code: 'invalid_api_key' }
    const results = [{ id: answers[0].test!.id, latencyMs: 12, failure }]
    await twin({ tests: results }) // another process took it
    await record({ tests: results })
    await record({ tests: [{ ...results[0]!, latencyMs: 99, failure: null }] }) // once
    const { rows } = await fixture.run(
      'SELECT service, latency_ms, failure, status, code FROM control.provider_tests WHERE id = $1',
      [answers[0].test!.id],
    )
    expect(rows).toEqual([
      { service: 'gateway', latency_ms: 12, failure: 'refused', status: 401, code: 'invalid_api_key' },
    ])
  })

  test('count once if repeated, even late', async ({ replica, reports: { route, report, rows } }) => {
    const counts = [{ ...route, ...nothing, failed: 1 }]
    const [first, second] = [report({ counts }), report({ counts })]
    for (const each of [first, first, second, second, first]) await recordProviders(replica, each)
    expect(sumOf(await rows('slots'), 'failed')).toBe(2)
  })

  test('keep the latest 50 failures of a provider, with the call', async ({ reports: { route, record, rows } }) => {
    const failure = (n: number) => ({
      ...route,
      project: 'prj_1',
      invocation: `inv_${n}`,
      kind: 'refused',
      status: 503,
      code: null,
      agoMs: 1_000 - n,
    })
    const failures = Array.from({ length: 60 }, (_, n) => failure(n))
    await record({ failures: failures.slice(0, 40) })
    await record({ failures: failures.slice(40).map((each) => ({ ...each, agoMs: 0 })) })
    const kept = await rows('failures')
    expect(new Set(kept.map(({ invocation }) => invocation))).toEqual(
      new Set(failures.slice(10).map(({ invocation }) => invocation)),
    )
    expect(kept[0]).toMatchObject({ project: 'prj_1', kind: 'refused', status: 503, code: null })
  })

  test('state the providers of a process again with each report, and none once it ends', async ({ reports }) => {
    const { state, record, rows } = reports
    await record({})
    await record({ providers: [{ ...state, circuit: 'open' }] })
    expect(await rows('states')).toMatchObject([{ kind: 'anthropic', credential: 'file', circuit: 'open' }])
    await record({ providers: [] })
    expect(await rows('states')).toEqual([])
  })

  test('are deleted after eight days, and the state of a crashed process after one', async ({
    fixture,
    replica,
    reports,
  }) => {
    const { route, record, rows } = reports
    await record({ counts: [{ ...route, ...nothing, failed: 1 }] })
    const age = async (table: string, column: string, days: number) =>
      fixture.run(`UPDATE money.${table} SET ${column} = ${column} - $1::int * interval '1 day'`, [days])
    await age('provider_slots', 'slot', 7)
    await cleanRetention(replica)
    expect([(await rows('slots')).length, (await rows('states')).length]).toEqual([1, 1])
    await age('provider_slots', 'slot', 2)
    await age('provider_senders', 'at', 2)
    await cleanRetention(replica)
    expect([(await rows('slots')).length, (await rows('states')).length]).toEqual([0, 0])
  })
})
