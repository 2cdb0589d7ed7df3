import { describe, expect } from 'vitest'
import { findingsOf, test, walletOf } from '../fixtures/ledger-test.ts'
import { codeOf } from '../fixtures/replica.ts'
import { correct } from './wallets.ts'

const FUNDS = 1_000_000

const correction = (project: string, micro: number, correctionId = 'incident-1') => ({
  project,
  correctionId,
  micro,
  reason: 'an invoice that came in twice',
  correctedBy: 'usr_operator',
})

describe('a correction', () => {
  test('credits or debits a wallet as a journal entry with its reason', async ({
    replica,
    tenant: { project },
    fixture,
  }) => {
    expect(await correct(replica, correction(project.id, -400_000))).toEqual({
      kind: 'corrected',
      fresh: true,
      micro: -400_000,
      reason: 'an invoice that came in twice',
    })
    await correct(replica, correction(project.id, 5, 'incident-2'))
    expect(await walletOf(replica, project.id)).toEqual({ funded: 600_005n, reserved: 0n, settled: 0n })
    const { rows } = await fixture.run(
      `SELECT j.kind, j.available::int, j.outside::int, c.reason, c.corrected_by FROM money.journal j
         LEFT JOIN money.corrections c ON c.project = j.project AND c.correction_id = j.reference
        WHERE j.project = $1 AND j.kind = 'correct' ORDER BY j.seq`,
      [project.id],
    )
    const by = { kind: 'correct', reason: 'an invoice that came in twice', corrected_by: 'usr_operator' }
    expect(rows).toEqual([
      { ...by, available: -400_000, outside: 400_000 },
      { ...by, available: 5, outside: -5 },
    ])
    expect(await findingsOf(replica, project.id)).toEqual([])
  })

  test('is applied once per id, and a repeat returns what was applied', async ({ replica, tenant: { project } }) => {
    const asked = correction(project.id, -10)
    const answers = await Promise.all([correct(replica, asked), correct(replica, asked)])
    expect(answers.filter((answer) => answer.kind === 'corrected' && answer.fresh)).toHaveLength(1)
    expect(await correct(replica, { ...asked, micro: 7, reason: 'another' })).toEqual({
      kind: 'corrected',
      fresh: false,
      micro: -10,
      reason: asked.reason,
    })
    expect(await walletOf(replica, project.id)).toMatchObject({ funded: BigInt(FUNDS - 10) })
  })

  test('never debits funds that are reserved or spent', async ({ replica, tenant: { project, key, product } }) => {
    const [settled, open] = [replica.item(key, product), replica.item(key, product)]
    await replica.admit(settled)
    await replica.settle(settled.id, { promptTokens: 0, completionTokens: 30 })
    await replica.admit(open)
    const available = FUNDS - 30 - 100
    const refused = { kind: 'short', availableMicro: available, reservedMicro: 100 }
    expect(await correct(replica, correction(project.id, -available - 1))).toEqual(refused)
    expect(await correct(replica, correction(project.id, -available))).toMatchObject({ kind: 'corrected' })
    expect(await walletOf(replica, project.id)).toEqual({ funded: 130n, reserved: 100n, settled: 30n })
    expect(codeOf(await replica.admit(replica.item(key, product)))).toBe('insufficient_budget')
    await replica.settle(open.id, { promptTokens: 0, completionTokens: 100 })
    expect(await findingsOf(replica, project.id)).toEqual([])
  })

  test('never overdraws the wallet together with concurrent admissions', async ({ replica, other, tenant }) => {
    const { project, key, product } = tenant
    await correct(replica, correction(project.id, 1_000 - FUNDS, 'leave 1000'))
    const [admissions, taken] = await Promise.all([
      Promise.all(Array.from({ length: 12 }, () => replica.admit(replica.item(key, product)))),
      Promise.all(Array.from({ length: 12 }, (_, n) => correct(other, correction(project.id, -100, `take-${n}`)))),
    ])
    const admitted = admissions.filter(({ kind }) => kind === 'admitted').length
    const corrected = taken.filter(({ kind }) => kind === 'corrected').length
    expect(admitted + corrected).toBe(10)
    expect(await walletOf(replica, project.id)).toEqual({
      funded: BigInt(1_000 - 100 * corrected),
      reserved: BigInt(100 * admitted),
      settled: 0n,
    })
    expect(await findingsOf(replica, project.id)).toEqual([])
  })

  test('creates the wallet of a project that has none, and debits nothing from it', async ({
    replica,
    tenant,
    fixture,
  }) => {
    const { id } = await fixture.project(tenant.owners)
    expect(await correct(replica, correction(id, -1))).toEqual({ kind: 'short', availableMicro: 0, reservedMicro: 0 })
    expect(await correct(replica, correction(id, 1))).toMatchObject({ kind: 'corrected', fresh: true })
  })
})
