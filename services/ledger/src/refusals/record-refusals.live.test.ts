import { describe, expect } from 'vitest'
import type { RefusalReport } from '@gateway/ledger-protocol/ledger-refusal'
import { openTenant, test as ledgerTest } from '../fixtures/ledger-test.ts'
import { cleanRetention } from '../maintenance/retention-cleaner.ts'
import { recordRefusals } from './record-refusals.ts'

const test = ledgerTest.extend('reports', async ({ fixture, replica, tenant, task }) => {
  let number = 0
  const sender = `gtw_${task.id}`
  const report = (more: Partial<RefusalReport>): RefusalReport => ({
    sender,
    number: ++number,
    counts: [],
    latest: [],
    ...more,
  })
  return {
    report,
    record: (more: Partial<RefusalReport>) => recordRefusals(replica, report(more)),
    async hours(project = tenant.project.id) {
      const { rows } = await fixture.run(
        'SELECT key, code, count::int FROM money.refusal_hours WHERE project = $1 ORDER BY code',
        [project],
      )
      return rows
    },
    async latest(project = tenant.project.id) {
      const { rows } = await fixture.run(
        'SELECT request FROM money.latest_refusals WHERE project = $1 ORDER BY at DESC, request DESC',
        [project],
      )
      return rows.map(({ request }) => request as string)
    },
  }
})

describe('reported refusals', () => {
  test('are counted by key and code', async ({ tenant: { key }, reports }) => {
    const counted = (count: number) => ({ keyHash: key.hash, code: 'key_limit' as const, count })
    await reports.record({ counts: [counted(3), { keyHash: key.hash, code: 'invalid_json', count: 1 }] })
    await reports.record({ counts: [counted(4)] })
    expect(await reports.hours()).toEqual([
      { key: key.id, code: 'invalid_json', count: 1 },
      { key: key.id, code: 'key_limit', count: 7 },
    ])
  })

  test('are counted once if a report is repeated, even late', async ({ replica, tenant: { key }, reports }) => {
    const counts = [{ keyHash: key.hash, code: 'key_limit' as const, count: 1 }]
    const [first, second] = [reports.report({ counts }), reports.report({ counts })]
    for (const report of [first, first, second, second, first]) await recordRefusals(replica, report)
    expect(await reports.hours()).toMatchObject([{ count: 2 }])
  })

  test('are not kept for an unknown key or a key without a project', async ({ fixture, tenant, reports }) => {
    const unbound = await fixture.key({ project: null, tenant: tenant.owners.tenant, by: tenant.owners.owner })
    const of = (keyHash: string) => ({ keyHash, code: 'key_invalid' as const })
    await reports.record({
      counts: ['f'.repeat(64), unbound.hash].map((hash) => ({ ...of(hash), count: 1 })),
      latest: [{ ...of('f'.repeat(64)), model: null, request: 'req_1', agoMs: 0 }],
    })
    const unowned = 'key = $1 OR key NOT IN (SELECT id FROM control.keys)'
    expect((await fixture.run(`SELECT FROM money.refusal_hours WHERE ${unowned}`, [unbound.id])).rowCount).toBe(0)
    expect((await fixture.run(`SELECT FROM money.latest_refusals WHERE request = 'req_1'`)).rowCount).toBe(0)
  })

  test('are kept individually for the last 100 of each project', async ({ fixture, tenant, reports }) => {
    const other = await openTenant(fixture)
    const of = (keyHash: string, request: string, agoMs: number) => ({
      keyHash,
      code: 'key_limit' as const,
      model: 'acme/swift',
      request,
      agoMs,
    })
    const requests = Array.from({ length: 130 }, (_, n) => `req_${String(n).padStart(3, '0')}`)
    const all = requests.map((request, n) => of(tenant.key.hash, request, 130 - n))
    await reports.record({ latest: [...all.slice(0, 90), of(other.key.hash, 'req_other', 3_000_000)] })
    await reports.record({ latest: all.slice(90) })
    expect(await reports.latest()).toEqual(requests.slice(30).toReversed())
    expect(await reports.latest(other.project.id)).toEqual(['req_other'])
  })

  test('are deleted after 90 days', async ({ fixture, replica, tenant: { key, project }, reports }) => {
    const refused = { keyHash: key.hash, code: 'key_limit' as const }
    await reports.record({
      counts: [{ ...refused, count: 1 }],
      latest: [{ ...refused, model: null, request: 'r', agoMs: 0 }],
    })
    const age = (days: number) =>
      fixture.run(
        `WITH hours AS (UPDATE money.refusal_hours SET hour = hour - $2 * interval '1 day' WHERE project = $1)
         UPDATE money.latest_refusals SET at = at - $2 * interval '1 day' WHERE project = $1`,
        [project.id, days],
      )
    await age(89)
    await cleanRetention(replica)
    expect([await reports.hours(), await reports.latest()]).toMatchObject([[{ count: 1 }], ['r']])
    await age(2)
    await cleanRetention(replica)
    expect([await reports.hours(), await reports.latest()]).toEqual([[], []])
  })
})
