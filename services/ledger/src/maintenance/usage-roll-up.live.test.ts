import { describe, expect, onTestFinished } from 'vitest'
import { openDatabase } from '@gateway/database/client'
import { createLogger } from '@gateway/service-kit/process/logger'
import { checkBooks, formatFinding } from '../check/check-books.ts'
import { checkProductMonths } from '../check/check-usage.ts'
import { closeNodes, insertExecution, insertNodes, nodeItem } from '../fixtures/execution-rows.ts'
import { openTenant, test as ledgerTest } from '../fixtures/ledger-test.ts'
import { rollUpUsage } from './usage-roll-up.ts'

const log = createLogger({ service: 'ledger', level: 'fatal' })

interface HourRow {
  hour: Date
  calls: number
  prompt: number
  completion: number
  micro: number
}

const test = ledgerTest
  /** Admits one call per argument and settles it with that many completion tokens, at one micro-USD each. */
  .extend('spend', ({ replica, tenant }) => async (...completionTokens: number[]) => {
    for (const tokens of completionTokens) {
      const item = replica.item(tenant.key, tenant.product)
      await replica.admit(item)
      await replica.settle(item.id, { promptTokens: 7, completionTokens: tokens })
    }
  })
  .extend('hours', ({ fixture, tenant }) => async (): Promise<HourRow[]> => {
    const { rows } = await fixture.run(
      `SELECT hour, calls::int, prompt_tokens::int AS prompt, completion_tokens::int AS completion, micro::int
         FROM money.usage_hours WHERE project = $1 AND dimension = 'all' ORDER BY hour`,
      [tenant.project.id],
    )
    return rows as HourRow[]
  })
  .extend('findings', ({ replica, tenant }) => async (whole = false) => {
    const { findings } = await checkBooks(replica.reads, { projects: [tenant.project.id], whole })
    return findings.map(formatFinding)
  })

describe('rolling up usage', () => {
  test('adds every settlement once to its hour, in each dimension', async ({
    replica,
    tenant,
    spend,
    hours,
    findings,
    fixture,
  }) => {
    await spend(10, 20)
    const open = replica.item(tenant.key, tenant.product)
    await replica.admit(open)
    await rollUpUsage({ reads: replica.reads, log })
    expect(await hours()).toMatchObject([{ calls: 2, prompt: 14, completion: 30, micro: 30 }])
    await rollUpUsage({ reads: replica.reads, log })
    await spend(5)
    await replica.settle(open.id, { promptTokens: 1, completionTokens: 1 })
    expect(await findings()).toEqual([]) // entries behind the position count as well
    await rollUpUsage({ reads: replica.reads, log })
    const sums = { calls: 4, prompt: 22, completion: 36, micro: 36 }
    expect(await hours()).toMatchObject([sums])
    for (const [table, unit] of [
      ['usage_hours', 'hour'],
      ['usage_days', 'day'],
    ]) {
      const { rows } = await fixture.run(
        `SELECT dimension, name, calls::int, prompt_tokens::int AS prompt, completion_tokens::int AS completion, micro::int
           FROM money.${table} WHERE project = $1 ORDER BY dimension, ${unit}`,
        [tenant.project.id],
      )
      expect(rows).toEqual([
        { dimension: 'all', name: '', ...sums },
        { dimension: 'key', name: tenant.key.id, ...sums },
        { dimension: 'model', name: tenant.product, ...sums },
        { dimension: 'sandbox', name: '', ...sums },
        { dimension: 'tag', name: '', ...sums },
        { dimension: 'user', name: tenant.owners.owner, ...sums },
      ])
    }
    const { rows } = await fixture.run(
      `SELECT p.seq = w.journal_seq AS whole, p.micro::int FROM money.usage_positions p JOIN money.wallets w USING (project)
        WHERE project = $1`,
      [tenant.project.id],
    )
    expect(rows).toEqual([{ whole: true, micro: 36 }])
    expect(await findings(true)).toEqual([])
  })

  test('adds the cost of providers, and what the calls with a known cost were charged', async ({
    replica,
    tenant,
    spend,
    findings,
    fixture,
  }) => {
    await spend(5)
    for (const [tokens, cost] of [
      [10, '6500001'],
      [20, '0'],
      [30, '9223372036854775807'],
    ] as const) {
      const item = replica.item(tenant.key, tenant.product)
      await replica.admit(item)
      await replica.settle(item.id, { promptTokens: 7, completionTokens: tokens }, null, undefined, cost)
      await rollUpUsage({ reads: replica.reads, log })
    }
    for (const table of ['usage_hours', 'usage_days']) {
      const { rows } = await fixture.run(
        `SELECT sum(calls)::int AS calls, sum(micro)::int AS micro, sum(costed_calls)::int AS costed,
                sum(costed_micro)::int AS costed_micro, sum(cost_pico)::text AS cost
           FROM money.${table} WHERE project = $1 AND dimension = 'key'`,
        [tenant.project.id],
      )
      expect(rows).toEqual([{ calls: 4, micro: 65, costed: 3, costed_micro: 60, cost: '9223372036861275808' }])
    }
    expect([await findings(), await findings(true)]).toEqual([[], []])
  })

  test('adds the calls of all projects to the month of their product, counted once by concurrent replicas', async ({
    replica,
    other,
    fixture,
    tenant,
  }) => {
    const { product } = tenant
    const second = await openTenant(fixture)
    await fixture.assign(second.project.id, product)
    const monthsOf = async () => {
      const { rows } = await fixture.run(
        `SELECT month::text, calls::int, prompt_tokens::int AS prompt, completion_tokens::int AS completion, micro::int,
                costed_calls::int AS costed, costed_micro::int, cost_pico::int AS cost
           FROM money.product_months WHERE product = $1 ORDER BY 1`,
        [product],
      )
      return rows
    }
    const spendOn = async (key: typeof tenant.key, at: string, cost?: string) => {
      const item = replica.item(key, product)
      await replica.admit(item)
      await fixture.run('UPDATE money.reservations SET admitted_at = $2 WHERE id = $1', [item.id, at])
      await replica.settle(item.id, { promptTokens: 2, completionTokens: 3 }, null, undefined, cost)
    }
    const rollUpTwice = () =>
      Promise.all([rollUpUsage({ reads: replica.reads, log }), rollUpUsage({ reads: other.reads, log })])
    for (const { key } of [tenant, second]) {
      await spendOn(key, '2026-09-30T23:59:59.999Z', '7')
      await spendOn(key, '2026-10-01T00:00:00.000Z')
    }
    await rollUpTwice()
    const september = { month: '2026-09-01', calls: 2, prompt: 4, completion: 6, micro: 6 }
    const october = { ...september, month: '2026-10-01', costed: 0, costed_micro: 0, cost: 0 }
    expect(await monthsOf()).toEqual([{ ...september, costed: 2, costed_micro: 6, cost: 14 }, october])
    await spendOn(second.key, '2026-10-31T23:00:00.000Z', '5')
    await rollUpTwice()
    const more = { calls: 3, prompt: 6, completion: 9, micro: 9, costed: 1, costed_micro: 3, cost: 5 }
    expect((await monthsOf())[1]).toEqual({ month: '2026-10-01', ...more })
    expect(await checkProductMonths(replica.reads)).toEqual([])
  })

  test('separates the calls by the flow that made them', async ({ tenant, spend, replica, findings, fixture }) => {
    await spend(10)
    const project = tenant.project.id
    const sandboxes = ['sbx-1', 'sbx-2']
    for (const [n, sandbox] of sandboxes.entries()) {
      const execution = await insertExecution(fixture, project, { key: tenant.key.id })
      await fixture.run('UPDATE money.executions SET sandbox = $2 WHERE id = $1', [execution, sandbox])
      for (const node of await insertNodes(fixture, { execution, project, count: n + 1 })) {
        await replica.admitNode(nodeItem(replica, node, tenant.product))
        await closeNodes(
          replica.reads,
          [project],
          [{ id: node.reservation, usage: { promptTokens: 7, completionTokens: 20 } }],
        )
      }
    }
    await rollUpUsage({ reads: replica.reads, log })
    for (const table of ['usage_hours', 'usage_days']) {
      const { rows } = await fixture.run(
        `SELECT name, calls::int, micro::int FROM money.${table} WHERE project = $1 AND dimension = 'sandbox' ORDER BY 1`,
        [project],
      )
      expect(rows).toEqual([
        { name: '', calls: 1, micro: 10 },
        { name: 'sbx-1', calls: 1, micro: 20 },
        { name: 'sbx-2', calls: 2, micro: 40 },
      ])
    }
    expect(await findings(true)).toEqual([])
  })

  test('counts a call in the hour in which it was admitted', async ({ replica, tenant, spend, hours, fixture }) => {
    const item = replica.item(tenant.key, tenant.product)
    await replica.admit(item)
    await fixture.run(`UPDATE money.reservations SET admitted_at = '2026-10-01T09:59:59.999Z' WHERE id = $1`, [item.id])
    await replica.settle(item.id, { promptTokens: 1, completionTokens: 9 })
    await spend(1)
    await rollUpUsage({ reads: replica.reads, log })
    const days = await fixture.run(
      `SELECT day, micro::int FROM money.usage_days WHERE project = $1 AND dimension = 'all' ORDER BY 1`,
      [tenant.project.id],
    )
    expect(days.rows[0]).toEqual({ day: new Date('2026-10-01T00:00:00Z'), micro: 9 })
    const [early, late] = await hours()
    expect([early?.hour.toISOString(), early?.micro, late?.micro]).toEqual(['2026-10-01T09:00:00.000Z', 9, 1])
  })

  test('continues in batches until nothing is left', async ({ replica, tenant, spend, hours, fixture }) => {
    await spend(...Array.from({ length: 12 }, () => 1))
    await rollUpUsage({ reads: replica.reads, log }, { maxProjects: 1, maxEntries: 5 })
    expect(await hours()).toMatchObject([{ calls: 12, micro: 12 }])
    const { rows } = await fixture.run('SELECT seq::int FROM money.usage_positions WHERE project = $1', [
      tenant.project.id,
    ])
    expect(rows).toEqual([{ seq: 25 }])
  })

  test('counts each call once while two replicas roll up concurrently and calls continue', async ({
    replica,
    other,
    tenant,
    hours,
    findings,
  }) => {
    let busy = true
    const work = Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        for (let call = 0; call < 15; call++) {
          const on = n % 2 ? replica : other
          const item = on.item(tenant.key, tenant.product)
          await on.admit(item)
          await on.settle(item.id, { promptTokens: 0, completionTokens: n })
        }
      }),
    ).finally(() => (busy = false))
    const small = { maxProjects: 3, maxEntries: 40 }
    const found: string[] = []
    while (busy) {
      await Promise.all([
        rollUpUsage({ reads: replica.reads, log }, small),
        rollUpUsage({ reads: other.reads, log }, small),
      ])
      found.push(...(await findings()))
    }
    await work
    await rollUpUsage({ reads: replica.reads, log })
    expect(found).toEqual([])
    expect(await hours()).toMatchObject([{ calls: 300, completion: 2_850, micro: 2_850 }])
    expect(await findings(true)).toEqual([])
  })

  test('does not touch a wallet without new entries', async ({ replica, tenant, spend, fixture }) => {
    await spend(3)
    await rollUpUsage({ reads: replica.reads, log })
    const version = async () =>
      (await fixture.run('SELECT xmin FROM money.usage_positions WHERE project = $1', [tenant.project.id])).rows
    const before = await version()
    await rollUpUsage({ reads: replica.reads, log })
    expect(await version()).toEqual(before)
  })

  test('continues with other projects if one cannot be written', async ({ replica, spend, hours, fixture }) => {
    const broken = await openTenant(fixture)
    const item = replica.item(broken.key, broken.product)
    await replica.admit(item)
    await replica.settle(item.id, { promptTokens: 0, completionTokens: 3 })
    await fixture.run(`ALTER TABLE money.usage_hours ADD CONSTRAINT broken CHECK (project <> '${broken.project.id}')`)
    await spend(4)
    await rollUpUsage({ reads: replica.reads, log })
    await fixture.run('ALTER TABLE money.usage_hours DROP CONSTRAINT broken')
    expect(await hours()).toMatchObject([{ micro: 4 }])
    await rollUpUsage({ reads: replica.reads, log })
    const { rows } = await fixture.run(
      `SELECT micro::int FROM money.usage_hours WHERE project = $1 AND dimension = 'all'`,
      [broken.project.id],
    )
    expect(rows).toEqual([{ micro: 3 }])
  })

  test('continues with other projects if the entries of one exceed the time limit', async ({
    replica,
    spend,
    hours,
    fixture,
  }) => {
    const slow = await openTenant(fixture)
    const calls = Array.from({ length: 60 }, () => replica.item(slow.key, slow.product))
    await Promise.all(calls.map((call) => replica.admit(call)))
    await Promise.all(calls.map(({ id }) => replica.settle(id, { promptTokens: 0, completionTokens: 3 })))
    await spend(4)
    /** Lets roll-ups of the slow project run out of time if they count more entries at once. */
    const limitTo = (entries: number) =>
      fixture.run(
        `CREATE OR REPLACE FUNCTION money.test_run_out_of_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           IF NEW.project = '${slow.project.id}'
              AND NEW.seq - (CASE TG_OP WHEN 'UPDATE' THEN OLD.seq ELSE 0 END) > ${entries} THEN
             RAISE query_canceled USING MESSAGE = 'canceling statement due to statement timeout';
           END IF;
           RETURN NULL;
         END $$;
         CREATE OR REPLACE TRIGGER run_out_of_time AFTER INSERT OR UPDATE ON money.usage_positions
           FOR EACH ROW EXECUTE FUNCTION money.test_run_out_of_time()`,
      )
    onTestFinished(async () => {
      await fixture.run('DROP FUNCTION money.test_run_out_of_time CASCADE')
    })
    const rolledUp = async () => {
      const { rows } = await fixture.run('SELECT micro::int FROM money.usage_positions WHERE project = $1', [
        slow.project.id,
      ])
      return (rows as { micro: number }[])[0]?.micro ?? 0
    }
    await limitTo(0)
    await rollUpUsage({ reads: replica.reads, log })
    expect([await hours(), await rolledUp()]).toMatchObject([[{ micro: 4 }], 0])
    await limitTo(100)
    await rollUpUsage({ reads: replica.reads, log }) // in smaller parts
    expect(await rolledUp()).toBe(180)
  })

  test('counts calls written after the clock went back', async ({ replica, tenant, spend, hours, fixture }) => {
    await spend(1)
    await rollUpUsage({ reads: replica.reads, log })
    await fixture.run(`UPDATE money.usage_positions SET at = at + interval '3 days' WHERE project = $1`, [
      tenant.project.id,
    ])
    await spend(2)
    await rollUpUsage({ reads: replica.reads, log })
    expect(await hours()).toMatchObject([{ calls: 2, micro: 3 }])
  })

  test('is not permitted to the console', async ({ database }) => {
    const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
    await expect(prisma.$queryRaw`SELECT money.roll_up_usage(ARRAY['p'], 1)`).rejects.toThrow(/permission denied/)
    await close()
  })
})

describe('the check of usage', () => {
  /** What a superuser changes, whether only a whole check finds it, and the finding. */
  const tamperings: [what: string, sql: string, whole: boolean, saying: RegExp][] = [
    [
      'an amount',
      `UPDATE money.usage_hours SET micro = micro - 1 WHERE project = $1 AND dimension = 'tag'`,
      false,
      /the usage hours by tag differ from the roll-up: expected 30, found 29/,
    ],
    [
      'the flow of calls, between hours',
      `WITH other AS (
         INSERT INTO money.usage_hours (
           project, dimension, name, hour, calls, prompt_tokens, completion_tokens, micro, durations, first_tokens)
         SELECT project, dimension, name, hour - interval '1 day', 1, 0, 0, 1, '', ''
           FROM money.usage_hours WHERE project = $1 AND dimension = 'sandbox')
       UPDATE money.usage_hours SET micro = micro - 1 WHERE project = $1 AND dimension = 'sandbox'`,
      true,
      /the parts of a usage hour differ from all of it: expected 30, found 29/,
    ],
    [
      'a lost hour',
      'DELETE FROM money.usage_hours WHERE project = $1',
      false,
      /the usage hours by all differ from the roll-up: expected 30, found 0/,
    ],
    [
      'a day',
      'UPDATE money.usage_days SET micro = micro + 1 WHERE project = $1',
      false,
      /the usage days by user differ from the roll-up: expected 30, found 31/,
    ],
    [
      'calls of a day',
      'UPDATE money.usage_days SET calls = calls + 1 WHERE project = $1',
      true,
      /a usage day differs from its hours: expected 30, found 30/,
    ],
    [
      'the usage roll-up',
      'UPDATE money.usage_positions SET micro = micro + 2 WHERE project = $1',
      false,
      /the usage roll-up differs from the journal: expected 30, found 32/,
    ],
    [
      'a position that skips a settlement',
      'UPDATE money.usage_positions SET seq = seq - 2 WHERE project = $1',
      false,
      /the usage roll-up differs from the journal: expected 10, found 30/,
    ],
    [
      'a position beyond the journal',
      'UPDATE money.usage_positions SET seq = seq + 1 WHERE project = $1',
      false,
      /usage is rolled up beyond the journal/,
    ],
    [
      'tokens',
      'UPDATE money.usage_hours SET prompt_tokens = prompt_tokens + 1 WHERE project = $1',
      true,
      /a usage hour differs from the journal: expected 2 calls with 14 \+ 30 tokens.*, found 2 calls with 15 \+ 30 tokens/,
    ],
    [
      'tokens of an hour and its day without a charged call',
      `WITH hour AS (
         INSERT INTO money.usage_hours (
           project, dimension, name, hour, calls, prompt_tokens, completion_tokens, micro, errors, durations, first_tokens)
         SELECT project, dimension, name, hour - interval '7 days', 0, 5, 0, 0, 1, '', ''
           FROM money.usage_hours WHERE project = $1 AND dimension = 'key')
       INSERT INTO money.usage_days (
         project, dimension, name, day, calls, prompt_tokens, completion_tokens, micro, errors, durations, first_tokens)
       SELECT project, dimension, name, day - interval '7 days', 0, 5, 0, 0, 1, '', ''
         FROM money.usage_days WHERE project = $1 AND dimension = 'key'`,
      true,
      /expected 0 calls with 0 \+ 0 tokens.*, found 0 calls with 5 \+ 0 tokens/,
    ],
    [
      'the cost of hours and days without a charged call, in every dimension',
      `WITH hour AS (
         INSERT INTO money.usage_hours (
           project, dimension, name, hour, calls, prompt_tokens, completion_tokens, micro, cost_pico, errors, durations, first_tokens)
         SELECT project, dimension, name, hour - interval '7 days', 0, 0, 0, 0, 7, 1, '', ''
           FROM money.usage_hours WHERE project = $1)
       INSERT INTO money.usage_days (
         project, dimension, name, day, calls, prompt_tokens, completion_tokens, micro, cost_pico, errors, durations, first_tokens)
       SELECT project, dimension, name, day - interval '7 days', 0, 0, 0, 0, 7, 1, '', ''
         FROM money.usage_days WHERE project = $1`,
      true,
      /expected 0 calls.* cost of 0 pico-USD.*, found 0 calls.* cost of 7 pico-USD/,
    ],
    [
      'prompt tokens into completion tokens, in each hour and day',
      `WITH day AS (UPDATE money.usage_days SET prompt_tokens = 0, completion_tokens = 44 WHERE project = $1)
       UPDATE money.usage_hours SET prompt_tokens = 0, completion_tokens = 44 WHERE project = $1`,
      true,
      /expected 2 calls with 14 \+ 30 tokens.*, found 2 calls with 0 \+ 44 tokens/,
    ],
    [
      'the failed calls of users in an hour and its day',
      `WITH day AS (UPDATE money.usage_days SET errors = 1 WHERE project = $1 AND dimension = 'user')
       UPDATE money.usage_hours SET errors = 1 WHERE project = $1 AND dimension = 'user'`,
      true,
      /the parts of a usage hour differ from all of it/,
    ],
    [
      'calls that moved to another hour',
      `UPDATE money.usage_hours SET hour = hour - interval '1 hour' WHERE project = $1`,
      true,
      /expected 2 calls with 14 \+ 30 tokens.*, found 0 calls with 0 \+ 0 tokens.*: expected 30, found 0/,
    ],
    [
      'the cost of a day',
      'UPDATE money.usage_days SET cost_pico = cost_pico + 1 WHERE project = $1',
      false,
      /the provider cost of the usage days by key differs from that of the hours by all: expected 0, found 1 pico-USD/,
    ],
    [
      'costed calls of a day',
      'UPDATE money.usage_days SET costed_calls = 1 WHERE project = $1',
      true,
      /a usage day differs from its hours/,
    ],
    [
      'the cost of an hour and its day',
      `WITH day AS (UPDATE money.usage_days SET cost_pico = 7 WHERE project = $1)
       UPDATE money.usage_hours SET cost_pico = 7 WHERE project = $1`,
      true,
      /expected 2 calls with 14 \+ 30 tokens, 0 of them with a cost of 0 pico-USD.*, 0 of them with a cost of 7 pico-USD/,
    ],
  ]
  for (const [what, sql, whole, saying] of tamperings) {
    test(`reports a changed row: ${what}`, async ({ replica, tenant, spend, findings, fixture }) => {
      await spend(10, 20)
      await rollUpUsage({ reads: replica.reads, log })
      expect(await findings(true)).toEqual([])
      await fixture.run(sql, [tenant.project.id])
      expect((await findings(whole)).join('\n')).toMatch(saying)
    })
  }

  test('reports a month of a product that differs from the days of all projects, in a whole check', async ({
    replica,
    tenant,
    spend,
    fixture,
  }) => {
    await spend(10)
    await rollUpUsage({ reads: replica.reads, log })
    const whole = async () =>
      (await checkBooks(replica.reads, { whole: true })).findings
        .map(formatFinding)
        .filter((text) => text.includes(tenant.product))
    expect(await whole()).toEqual([])
    for (const [change, saying] of [
      ['micro = micro - 1', /all projects: month .* expected 10, found 9 micro-USD/],
      ['micro = micro + 1, cost_pico = 5', /in pico-USD of expected 0, found 5: expected 10, found 10 micro-USD/],
    ] as const) {
      await fixture.run(`UPDATE money.product_months SET ${change} WHERE product = $1`, [tenant.product])
      expect((await whole()).join('\n')).toMatch(saying)
    }
    await fixture.run('DELETE FROM money.product_months WHERE product = $1', [tenant.product])
    expect((await whole()).join('\n')).toMatch(/expected 10, found 0/)
  })
})
