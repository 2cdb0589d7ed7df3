import type { UsageReport } from '@gateway/api/console/money'
import { expect } from 'vitest'
import { outcomeOf } from '../console.fixture.ts'
import { callsTest } from './calls.fixture.ts'

// Calls of a past month, closed just now. The ledger rolls them up once their wallet says that it has moved.

const CALLS = 2_000

const test = callsTest
  .extend('usage', ({ stack }) => async (query: string) => {
    const answer = await stack.owner.get(`${stack.projectPath}/usage?${query}`)
    expect(outcomeOf(answer)).toBe('200')
    return answer.body as UsageReport
  })
  /** Calls of two models with drawn durations, every seventh of them failed. */
  .extend('history', async ({ stack, tenant, fixture }) => {
    await fixture.run(
      `WITH call AS MATERIALIZED (
         SELECT n, 'inv_' || $1 || lpad(n::text, 5, '0') AS id, n % 7 = 0 AS failed,
                timestamptz '2026-05-01' + n * interval '17 minutes' AS at, exp(5 + 3 * random())::int AS ms
           FROM generate_series(1, ${CALLS}) n),
       entry AS (
         INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
         SELECT $1, journal_seq + n, CASE WHEN failed THEN 'release' ELSE 'settle' END, id, 0, 0, 0, 0, now()
           FROM call, money.wallets WHERE project = $1)
       INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, reason, admitted_at, closed_at, first_token_ms)
       SELECT id, id, 1, CASE WHEN failed THEN 'Released' ELSE 'Settled' END, $1, 'acme/' || n % 2,
              CASE n % 3 WHEN 0 THEN '' ELSE $2 END, CASE WHEN failed THEN 'provider a: timeout' END,
              at, at + ms * interval '1 ms', CASE n % 5 WHEN 0 THEN NULL ELSE ms / 3 END
         FROM call`,
      [stack.project, tenant.key],
    )
    return stack.project
  })
  .extend('rollUp', ({ fixture, history }) => async (entries: number) => {
    await fixture.run('UPDATE money.wallets SET journal_seq = journal_seq + $2 WHERE project = $1', [history, entries])
    const behind = async () => {
      await fixture.run('SELECT money.roll_up_usage(ARRAY[$1], 100000)', [history])
      const { rows } = await fixture.run(
        `SELECT (w.journal_seq - p.seq)::int AS behind FROM money.wallets w JOIN money.usage_positions p USING (project)
          WHERE w.project = $1`,
        [history],
      )
      return rows[0]?.['behind'] as unknown
    }
    await expect.poll(behind).toBe(0) // the ledger rolls up as well
  })
  .extend('exactly', ({ fixture, history }) => async (group: string, step: string) => {
    const { rows } = await fixture.run(
      `SELECT ${step} AS time, ${group} AS "group", count(*) FILTER (WHERE state = 'Released')::int AS errors,
              percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) FILTER (WHERE state = 'Settled') AS "latencyP50Ms",
              percentile_disc(0.95) WITHIN GROUP (ORDER BY ms) FILTER (WHERE state = 'Settled') AS "latencyP95Ms",
              percentile_disc(0.5) WITHIN GROUP (ORDER BY first_token_ms) FILTER (WHERE state = 'Settled') AS "firstTokenP50Ms",
              percentile_disc(0.95) WITHIN GROUP (ORDER BY first_token_ms) FILTER (WHERE state = 'Settled') AS "firstTokenP95Ms"
         FROM (SELECT *, (extract(epoch FROM closed_at - admitted_at) * 1000)::int AS ms FROM money.attempts WHERE project = $1) a
        GROUP BY 1, 2 ORDER BY 1, 2 NULLS LAST`,
      [history],
    )
    return rows as Figures[]
  })

interface Figures {
  time?: string | null
  group?: string | null
  [figure: string]: unknown
}

const may = 'from=2026-04-30T00:00:00Z&to=2026-06-01T00:00:00Z&include=latency'

/** Compares figures by group and time: percentiles are within 1/21 and rounded to a millisecond (money §9.6), errors exact. */
function expectClose(found: readonly Figures[], exact: readonly Figures[]): void {
  const nameOf = ({ time, group }: Figures) => `${time?.slice(0, 10) ?? ''} ${group}`
  const sorted = (all: readonly Figures[]) => all.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))
  expect(sorted(found).map(nameOf)).toEqual(sorted(exact).map(nameOf))
  for (const [n, figures] of sorted(exact).entries())
    for (const [name, value] of Object.entries(figures)) {
      if (typeof value !== 'number') continue
      const other = sorted(found)[n]![name] as number
      if (name === 'errors') expect(other).toBe(value)
      else expect(Math.abs(other - value)).toBeLessThanOrEqual(value / 21 + 0.5)
    }
}

test.for([
  { by: 'model', column: 'product' },
  { by: 'key', column: `nullif(key, '')` },
])(
  'percentiles by $by are close to the exact ones, before and after the roll-up',
  async ({ by, column }, { usage, rollUp, exactly }) => {
    const [groups, days] = [
      await exactly(column, 'NULL::text'),
      await exactly(column, `to_char(admitted_at AT TIME ZONE 'Asia/Kolkata', 'YYYY-MM-DD')`),
    ]
    const read = async () => usage(`${may}&by=${by}&step=day&zone=Asia/Kolkata`)
    const before = await read()
    expectClose(before.groups!, groups)
    expectClose(before.data, days)
    await rollUp(CALLS)
    expect(await read()).toEqual(before)
  },
)

test('usage by user adds up the keys of each user, and keeps calls without a key apart', async ({
  stack,
  usage,
  rollUp,
  exactly,
}) => {
  await rollUp(CALLS)
  const { total, data } = await usage(`${may}&by=user`)
  expect(new Set(data.map(({ group }) => group))).toEqual(new Set([stack.owner.id, null]))
  expectClose(data, await exactly(`CASE key WHEN '' THEN NULL ELSE '${stack.owner.id}' END`, 'NULL::text'))
  expectClose(
    [total],
    (await exactly('NULL::text', 'NULL::text')).map(({ time: _, group: __, ...figures }) => figures),
  )
})

test('usage by user includes the executions that a user started in the console, before and after the roll-up', async ({
  usage,
  rollUp,
  history,
  fixture,
}) => {
  await rollUp(CALLS)
  await fixture.run(
    `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, created_at, deadline_at)
     VALUES ($2, $1, 'sbx-1', 1, 'usr_console', 'invoke', 'Running', now(), now())`,
    [history, `exe_of_${history}`],
  )
  await fixture.run(
    `INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, execution, node, admitted_at, closed_at)
     VALUES ($2, $2, 1, 'Settled', $1, 'acme/0', '', $3, 'ask', '2026-05-01T01:00:00Z', '2026-05-01T01:00:01Z')`,
    [history, `inv_of_${history}`, `exe_of_${history}`],
  )
  await fixture.run(
    `INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
     SELECT project, max(seq) + 1, 'settle', $2, 0, 0, 0, 0, now() FROM money.journal WHERE project = $1 GROUP BY 1`,
    [history, `inv_of_${history}`],
  )
  const calls = async () => {
    const { data } = await usage(`${may}&by=user`)
    return data.find(({ group }) => group === 'usr_console')?.calls
  }
  expect(await calls()).toBe(1)
  await rollUp(1)
  expect(await calls()).toBe(1)
})

test.for([
  { by: 'model', order: 'errors' },
  { by: 'key', order: 'calls' },
] as const)(
  'a report of the top group by $by, or of one group, has that part of the report of all groups, and the same sums of all',
  async ({ by, order }, { usage, rollUp }) => {
    for (const isRolledUp of [false, true]) {
      if (isRolledUp) await rollUp(CALLS)
      for (const steps of ['&step=day&zone=Asia/Kolkata', '&step=day&zone=Europe/Berlin', '']) {
        const asked = `${may}&by=${by}${steps}`
        const all = await usage(asked)
        const named = (all.groups ?? all.data).filter(({ group }) => group !== null)
        const [first] = named.toSorted((a, b) => b[order] - a[order])
        const ofGroup = (group: string | null) => all.data.filter((row) => row.group === group)
        const top = await usage(`${asked}&top=1&order=${order}`)
        const ofTop = (group: string | null) => group === first!.group || group === null
        expect(top.data.toSorted(byTime)).toEqual(all.data.filter(({ group }) => ofTop(group)).toSorted(byTime))
        expect([top.steps, top.groupCount, top.total]).toEqual([all.steps, all.groupCount, all.total])
        expect(top.groups?.toSorted(byTime)).toEqual(all.groups?.toSorted(byTime))
        const one = await usage(`${asked}&group=${encodeURIComponent(first!.group!)}`)
        expect([one.data, one.total]).toEqual([ofGroup(first!.group), expect.objectContaining({ calls: first!.calls })])
      }
    }
  },
)

test('the top groups are as many as requested, also if most calls have no group', async ({
  usage,
  history,
  fixture,
}) => {
  await fixture.run('SET session_replication_role = replica') // a usage record can't be changed
  await fixture.run(`UPDATE money.attempts SET key = '' WHERE project = $1 AND right(id, 1) <> '1'`, [history])
  await fixture.run('RESET session_replication_role')
  for (const query of [may, `${may}&step=day`]) {
    const { data, groupCount } = await usage(`${query}&by=key&top=1`)
    expect([groupCount, new Set(data.map(({ group }) => group)).size]).toEqual([2, 2])
  }
})

type Row = { time?: string; group: string | null }
const byTime = (a: Row, b: Row) =>
  String(a.time).localeCompare(String(b.time)) || String(a.group).localeCompare(String(b.group))

test('the roll-up adds later calls to the buckets of their hour', async ({ usage, rollUp, history, fixture }) => {
  const errors = async () => (await usage(may)).total.errors
  await rollUp(CALLS)
  const before = await errors()
  for (const [n, reason] of ['provider a: cut', 'its worker gave it back'].entries()) {
    await fixture.run(
      `INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, reason, admitted_at, closed_at)
       VALUES ($2, $2, 1, 'Released', $1, 'acme/0', '', $3, '2026-05-01T01:00:00Z', '2026-05-01T01:00:01Z')`,
      [history, `inv_later_${history}_${n}`, reason],
    )
    await fixture.run(
      `INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
       SELECT project, max(seq) + 1, 'release', $2, 0, 0, 0, 0, now() FROM money.journal WHERE project = $1 GROUP BY 1`,
      [history, `inv_later_${history}_${n}`],
    )
  }
  expect(await errors()).toBe(before + 1)
  await rollUp(2)
  expect(await errors()).toBe(before + 1)
})

test('usage as CSV has the latency columns if they are included', async ({ usage, stack, rollUp, console }) => {
  await rollUp(CALLS)
  const query = `${may}&by=model`
  const { data } = await usage(query)
  const answer = await fetch(`${console.url}${stack.projectPath}/usage?${query}&format=csv`, {
    headers: { Authorization: `Bearer ${stack.owner.token}` },
  })
  const [head, first] = (await answer.text()).split('\r\n')
  expect(head).toMatch(/^model,calls,.*,errors,latency_p50_ms,latency_p95_ms,first_token_p50_ms,first_token_p95_ms$/)
  const { errors, latencyP95Ms } = data[0]!
  expect(first!.split(',').slice(5)).toEqual([
    String(errors),
    expect.any(String),
    String(latencyP95Ms),
    expect.any(String),
    expect.any(String),
  ])
})

test('latency by day is rejected, because days are steps [invalid_request]', async ({ stack }) => {
  const answer = await stack.owner.get(`${stack.projectPath}/usage?by=day&include=latency`)
  expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', 'include'])
})

test('latency by day of a zone is reported as JSON and CSV for any number of hours and groups', async ({
  stack,
  usage,
  console,
  fixture,
}) => {
  await fixture.run(
    `INSERT INTO money.usage_hours (
       project, dimension, name, hour, calls, prompt_tokens, completion_tokens, micro, max_micro, durations, first_tokens)
     SELECT $1, 'key', CASE key WHEN 140 THEN '' ELSE 'key_' || key END, timestamptz '2026-05-01' + hour * interval '1 hour',
            1, 1, 1, 1, 1, decode(lpad(to_hex(key), 4, '0') || '00000001', 'hex'), ''
       FROM generate_series(0, 719) hour, generate_series(1, 140) key`,
    [stack.project],
  )
  const query = 'by=key&step=day&from=2026-05-01T00:00:00Z&to=2026-05-31T00:00:00Z&zone=Europe/Berlin&include=latency'
  const { data, groups, total } = await usage(query)
  expect([data.length, groups!.length, total.calls]).toEqual([140 * 31, 140, 140 * 720])
  expect([...data, ...groups!].every(({ latencyP50Ms }) => latencyP50Ms !== null)).toBe(true)
  for (const group of ['key_1', 'key_139']) {
    const one = await usage(`${query}&group=${group}`)
    expect(data.filter((row) => row.group === group)).toEqual(one.data)
  }
  const csv = await fetch(`${console.url}${stack.projectPath}/usage?${query}&format=csv`, {
    headers: { Authorization: `Bearer ${stack.owner.token}` },
  })
  expect([csv.status, (await csv.text()).trimEnd().split('\r\n').length]).toEqual([200, 1 + 140 * 31])
})
