import { describe, expect } from 'vitest'
import type { ThresholdsRequest } from '@gateway/ledger-protocol/ledger-reads'
import { openTenant, test as ledgerTest } from '../fixtures/ledger-test.ts'
import { notifyDaysLeft } from '../maintenance/maintenance-jobs.ts'
import { correct } from '../wallets/wallets.ts'
import { setThresholds } from './write-notices.ts'

// Money §10.1. A settlement of n completion tokens charges n micro-USD.

type Thresholds = Omit<ThresholdsRequest, 'project'>
const NOTHING: Thresholds = { belowMicro: [], daysLeft: null, keyPercents: [] }

const test = ledgerTest.extend(
  'money',
  ({ fixture, replica }) =>
    async (funds: bigint, limit: bigint | null = null) => {
      const tenant = await openTenant(fixture, funds)
      const { owners, project, product } = tenant
      const key = limit
        ? await fixture.key({ project, by: owners.owner, limit: { micro: limit, reset: 'daily' } })
        : tenant.key
      async function reserve(micro: number) {
        const item = replica.item(key, product, { maxTokens: micro })
        expect((await replica.admit(item)).kind).toBe('admitted')
        return item.id
      }
      const settle = (id: string, micro: number) => replica.settle(id, { promptTokens: 1, completionTokens: micro })
      return {
        key,
        project: project.id,
        reserve,
        settle,
        charge: async (micro: number) => settle(await reserve(micro), micro),
        want: (thresholds: Partial<Thresholds>) =>
          setThresholds(replica, { project: project.id, ...NOTHING, ...thresholds }),
        async notices() {
          const { rows } = await fixture.run(
            `SELECT kind || ' ' || threshold AS what, coalesce(remaining_micro, spent_micro)::int AS micro
           FROM money.notices WHERE project = $1 ORDER BY at, threshold DESC`,
            [project.id],
          )
          return rows.map(({ what, micro }) => `${what}: ${micro}`)
        },
      }
    },
)

describe('a balance threshold', () => {
  test('is reported once when settlements, not reservations, bring the balance below it', async ({ money }) => {
    const wallet = await money(1_000n)
    await wallet.want({ belowMicro: [900, 500] })
    const reserved = await wallet.reserve(600)
    expect(await wallet.notices()).toEqual([])
    await wallet.settle(reserved, 100)
    expect(await wallet.notices()).toEqual([]) // 900 remain, which is not below
    await wallet.charge(1)
    expect(await wallet.notices()).toEqual(['wallet.below 900: 899'])
    await wallet.charge(50)
    await wallet.charge(400)
    expect(await wallet.notices()).toEqual(['wallet.below 900: 899', 'wallet.below 500: 449'])
  })

  test('is reported separately for each threshold that one settlement crosses', async ({ money }) => {
    const wallet = await money(1_000n)
    await wallet.want({ belowMicro: [900, 500, 100] })
    await wallet.charge(600)
    expect(await wallet.notices()).toEqual(['wallet.below 900: 400', 'wallet.below 500: 400'])
  })

  test('is reported again after a funding raised the balance above it', async ({ fixture, money }) => {
    const wallet = await money(1_000n)
    await wallet.want({ belowMicro: [950] })
    await wallet.charge(100)
    await fixture.fund(wallet.project, 49n)
    await wallet.charge(1)
    expect(await wallet.notices()).toEqual(['wallet.below 950: 900'])
    await fixture.fund(wallet.project, 2n)
    await wallet.charge(1)
    expect(await wallet.notices()).toEqual(['wallet.below 950: 900', 'wallet.below 950: 949'])
  })

  test('is reported when a correction debits the wallet', async ({ replica, money }) => {
    const { project, want, notices } = await money(1_000n)
    await want({ belowMicro: [900] })
    const correction = { project, correctionId: 'c', micro: -200, reason: 'a test', correctedBy: 'usr_test' }
    await correct(replica, correction)
    await correct(replica, correction)
    expect(await notices()).toEqual(['wallet.below 900: 800'])
  })

  test('is not reported once it is removed', async ({ money }) => {
    const wallet = await money(1_000n)
    await wallet.want({ belowMicro: [900] })
    await wallet.want({})
    await wallet.charge(500)
    expect(await wallet.notices()).toEqual([])
  })

  test('is reported once by many concurrent settlements on two replicas', async ({ replica, other, money }) => {
    const wallet = await money(1_000n)
    await wallet.want({ belowMicro: [900, 800, 700, 600] })
    const ids: string[] = []
    for (let n = 0; n < 50; n++) ids.push(await wallet.reserve(10))
    await Promise.all(
      ids.map((id, n) => (n % 2 ? replica : other).settle(id, { promptTokens: 1, completionTokens: 10 })),
    )
    const thresholds = (await wallet.notices()).map((line) => line.slice(0, line.indexOf(':')))
    expect(thresholds.toSorted()).toEqual([600, 700, 800, 900].map((micro) => `wallet.below ${micro}`))
  })
})

describe('a percentage of a spending window', () => {
  test('is reported once when the window has spent it', async ({ fixture, money }) => {
    const wallet = await money(10_000n, 1_000n)
    await wallet.want({ keyPercents: [50, 80, 100] })
    await wallet.charge(499)
    expect(await wallet.notices()).toEqual([])
    await wallet.charge(1)
    await wallet.charge(100)
    await wallet.charge(400)
    expect(await wallet.notices()).toEqual(['key.percent 50: 500', 'key.percent 100: 1000', 'key.percent 80: 1000'])
    const { rows } = await fixture.run(
      "SELECT DISTINCT key, limit_micro::int AS \"limit\", window_start = date_trunc('day', now(), 'UTC') AS today FROM money.notices WHERE project = $1",
      [wallet.project],
    )
    expect(rows).toEqual([{ key: wallet.key.id, limit: 1_000, today: true }])
  })

  test('is reported again in the next window', async ({ fixture, money }) => {
    const wallet = await money(10_000n, 1_000n)
    await wallet.want({ keyPercents: [50] })
    await wallet.charge(600)
    await fixture.run(`UPDATE money.meters SET window_start = window_start - interval '1 day' WHERE project = $1`, [
      wallet.project,
    ])
    await fixture.run(`UPDATE money.notices SET at = at - interval '1 day' WHERE project = $1`, [wallet.project])
    await fixture.run(
      `UPDATE money.notices SET id = 'ntc_yesterday_' || project, window_start = window_start - interval '1 day' WHERE project = $1`,
      [wallet.project],
    )
    await wallet.charge(700)
    expect(await wallet.notices()).toEqual(['key.percent 50: 600', 'key.percent 50: 700'])
  })

  test('is never reported for a key without a limit', async ({ money }) => {
    const wallet = await money(1_000n)
    await wallet.want({ keyPercents: [1] })
    await wallet.charge(900)
    expect(await wallet.notices()).toEqual([])
  })
})

describe('a days-left threshold', () => {
  test('is reported once when the pace of the last week leaves fewer days, and again after a funding', async ({
    fixture,
    replica,
    money,
  }) => {
    const wallet = await money(1_000n)
    await wallet.want({ daysLeft: 3 })
    const used = (micro: number, daysAgo: number) =>
      fixture.usage(wallet.project, { at: new Date(Date.now() - daysAgo * 86_400_000), micro })
    const look = async () => {
      await notifyDaysLeft(replica)
      return wallet.notices()
    }
    expect(await look()).toEqual([]) // nothing was used
    await used(1_000_000, 8)
    await used(2_333, 6)
    expect(await look()).toEqual([]) // 333.3 a day: just over 3 days
    await used(1, 2)
    expect(await look()).toEqual(['wallet.days_left 3: 1000'])
    expect(await look()).toHaveLength(1)
    await fixture.fund(wallet.project, 10n)
    expect(await look()).toHaveLength(1)
    await used(100, 1)
    expect(await look()).toEqual(['wallet.days_left 3: 1000', 'wallet.days_left 3: 1010'])
  })
})
