import { expect } from 'vitest'
import { outcomeOf } from '../console.fixture.ts'
import { callsTest } from './calls.fixture.ts'

interface Row {
  time: string
  group: string | null
  calls: number
  chargedMicro: number
}

const test = callsTest
  .extend(
    'usage',
    ({ stack }) =>
      (query: string) =>
        stack.owner.get(`${stack.projectPath}/usage?${query}`),
  )
  /** Calls at random times over half a year, by two keys and a user, with the ledger's rollups of them. */
  .extend('history', async ({ stack, fixture }) => {
    await fixture.run(
      `INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, reserved_micro, charged_micro, prompt_tokens,
                                   completion_tokens, execution, node, admitted_at, closed_at)
       SELECT id, id, 1, 'Settled', $1, 'acme/' || n % 2, CASE n % 3 WHEN 0 THEN '' ELSE 'key_' || n % 3 END, 100, n % 97, n % 7, n % 11,
              CASE WHEN n % 5 < 3 THEN 'exe_' || $1 || n % 5 END, CASE WHEN n % 5 < 3 THEN 'ask' END, at, at
         FROM generate_series(1, 2000) n
        CROSS JOIN LATERAL (SELECT 'inv_' || $1 || n AS id, timestamptz '2026-03-01' + random() * 270 * interval '1 day' + n * interval '0') r (id, drawn)
        CROSS JOIN LATERAL (SELECT CASE n % 4 -- a quarter of them close to the hours at which days begin somewhere
          WHEN 0 THEN date_trunc('day', drawn) + (n % 48) * interval '30 minutes' - (n % 2) * interval '1 millisecond'
          ELSE drawn END AS at) t`,
      [stack.project],
    )
    await fixture.run(
      `INSERT INTO money.executions (id, project, sandbox, revision, user_id, surface, status, created_at, deadline_at)
       SELECT 'exe_' || $1 || n, $1, 'sbx-' || n % 2, 1, 'usr_1', 'invoke', 'Running', now(), now() FROM generate_series(0, 2) n`,
      [stack.project],
    )
    for (const [table, unit] of [
      ['usage_hours', 'hour'],
      ['usage_days', 'day'],
    ] as const)
      await fixture.run(
        `INSERT INTO money.${table} (project, ${unit}, dimension, name, calls, prompt_tokens, completion_tokens, micro, durations, first_tokens)
         SELECT project, date_trunc('${unit}', admitted_at, 'UTC'), d.dimension, d.name, count(*), sum(prompt_tokens), sum(completion_tokens),
                sum(charged_micro), '', ''
           FROM ${WITH_FLOWS},
                LATERAL (VALUES ('all', ''), ('model', product), ('key', key), ('sandbox', coalesce(sandbox, ''))) d (dimension, name)
          WHERE project = $1 GROUP BY 1, 2, 3, 4`,
        [stack.project],
      )
    return stack.project
  })

/** Calls with the flow whose execution made them. */
const WITH_FLOWS = `(SELECT a.*, e.sandbox FROM money.attempts a LEFT JOIN money.executions e ON e.id = a.execution) call`

const half = 'from=2026-02-27T00:00:00Z&to=2026-12-01T00:00:00Z'

test.for(['UTC', 'Europe/Berlin', 'America/New_York', 'America/Havana', 'Asia/Kolkata', 'Australia/Adelaide'])(
  'daily usage in %s equals the sums over its calls, by model, key and flow',
  async (zone, { usage, history, fixture }) => {
    for (const [by, column] of [
      ['model', 'product'],
      ['key', `nullif(key, '')`],
      ['sandbox', 'sandbox'],
    ] as const) {
      const { body } = await usage(`${half}&step=day&by=${by}&zone=${zone}`)
      const { rows } = await fixture.run(
        `SELECT to_char(admitted_at AT TIME ZONE $2, 'YYYY-MM-DD') AS day, ${column} AS "group", count(*)::int AS calls,
                sum(prompt_tokens)::int AS prompt, sum(completion_tokens)::int AS completion, sum(charged_micro)::int AS micro
           FROM ${WITH_FLOWS} WHERE project = $1 GROUP BY 1, 2 ORDER BY 1, 2 NULLS LAST`,
        [history, zone],
      )
      const said = body.data.map(
        ({ time, group, calls, promptTokens, completionTokens, chargedMicro }: Record<string, never>) => ({
          day: String(time).slice(0, 10),
          group,
          calls,
          prompt: promptTokens,
          completion: completionTokens,
          micro: chargedMicro,
        }),
      )
      expect(said).toEqual(rows)
      expect(body.total.chargedMicro).toBe((rows as { micro: number }[]).reduce((sum, { micro }) => sum + micro, 0))
    }
  },
)

test('hourly usage carries local times with offset, so an hour that occurs twice is listed twice', async ({
  usage,
  stack,
  fixture,
}) => {
  const calls = ['2026-10-24T23:00:00Z', '2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z']
  for (const hour of calls) await fixture.usage(stack.project, { at: new Date(hour), micro: 4 })
  const { body } = await usage('from=2026-10-24T22:00:00Z&to=2026-10-25T03:00:00Z&step=hour&zone=Europe/Berlin')
  expect(body).toMatchObject({
    from: '2026-10-24T22:00:00.000Z',
    to: '2026-10-25T03:00:00.000Z',
    by: 'model',
    step: 'hour',
    zone: 'Europe/Berlin',
    total: { calls: 3, chargedMicro: 12 },
  })
  expect(body.data.map(({ time }: Row) => time)).toEqual([
    '2026-10-25T01:00:00+02:00',
    '2026-10-25T02:00:00+02:00',
    '2026-10-25T02:00:00+01:00',
  ])
})

test('usage as JSON and CSV includes a call settled a moment ago, and extends from and to to whole steps', async ({
  stack,
  tenant,
  calls,
  usage,
  console,
}) => {
  for (let n = 0; n < 3; n++) await calls.settle((await calls.admit(tenant.secret, tenant.model)).id)
  const now = new Date()
  const asked = `from=${now.toISOString()}&to=${new Date(now.getTime() + 1_000).toISOString()}&by=key&step=day&zone=Asia/Tokyo`
  const { body } = await usage(asked)
  expect([body.from.slice(11), body.to.slice(11)]).toEqual(['15:00:00.000Z', '15:00:00.000Z'])
  const sums = { calls: 3, promptTokens: 30, completionTokens: 60, chargedMicro: 150, errors: 0 }
  expect(body.data).toEqual([{ time: expect.stringMatching(/T00:00:00\+09:00$/), group: tenant.key, ...sums }])
  const answer = await fetch(`${console.url}${stack.projectPath}/usage?${asked}&format=csv`, {
    headers: { Authorization: `Bearer ${stack.owner.token}` },
  })
  expect(answer.headers.get('content-disposition')).toContain(`usage-${stack.project}-`)
  expect((await answer.text()).split('\r\n')).toEqual([
    'time,key,calls,prompt_tokens,completion_tokens,charged_micro,errors',
    `${body.data[0].time},${tenant.key},3,30,60,150,0`,
    '',
  ])
})

test('refuses daily usage in a half-hour zone if calls around midnight are archived [usage_archived]', async ({
  usage,
  history,
  fixture,
}) => {
  const asked = 'from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z&step=day'
  await fixture.usage(history, { at: new Date('2026-05-01T18:00:00Z') })
  const refused = await usage(`${asked}&zone=Asia/Kolkata`)
  expect([outcomeOf(refused), refused.body.error.param]).toEqual(['404 usage_archived', 'zone'])
  expect(outcomeOf(await usage(`${asked}&zone=Europe/Berlin`))).toBe('200')
  const july = `${asked.replaceAll('05-', '07-')}&zone=Asia/Kolkata`
  expect(outcomeOf(await usage(july))).toBe('200')
  await fixture.run(
    `INSERT INTO money.usage_hours AS u (
       project, dimension, name, hour, calls, prompt_tokens, completion_tokens, micro, errors, durations, first_tokens)
     VALUES ($1, 'all', '', '2026-07-01T18:00:00Z', 0, 0, 0, 0, 1, '', '')
     ON CONFLICT (project, dimension, name, hour) DO UPDATE SET errors = 1`,
    [history],
  )
  expect(outcomeOf(await usage(july))).toBe('404 usage_archived') // a failed call
})

test('refuses usage by flow if the flow of a call is unknown instead of listing it without one [usage_archived]', async ({
  usage,
  history,
  fixture,
}) => {
  const asked = 'from=2026-06-01T00:00:00Z&to=2026-07-01T00:00:00Z&step=day&zone=Asia/Kolkata'
  const id = `inv_gone_${history}`
  await fixture.run(
    `INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, reserved_micro, charged_micro, prompt_tokens,
                                 completion_tokens, execution, node, admitted_at, closed_at)
     VALUES ($2, $2, 1, 'Settled', $1, 'acme/0', '', 1, 1, 1, 1, 'exe_dropped', 'ask', '2026-06-15T18:40:00Z', '2026-06-15T18:40:00Z')`,
    [history, id],
  )
  await fixture.usage(history, { at: new Date('2026-06-15T18:00:00Z'), model: 'acme/0', sandbox: 'sbx-gone' })
  expect(outcomeOf(await usage(`${asked}&by=sandbox`))).toBe('404 usage_archived')
  expect(outcomeOf(await usage(`${asked}&by=model`))).toBe('200')
  const { body } = await usage(`${asked.replace('Asia/Kolkata', 'Europe/Berlin')}&by=sandbox`)
  expect(body.data.map(({ group }: Row) => group)).toContain('sbx-gone')
})

test.for([
  ['by=tag', /^Request a shorter period\.$/, 'from'],
  ['by=tag&step=day', /^Request a shorter period, a longer step, or/, 'step'],
  ['by=tag&top=10', /^Request a shorter period\.$/, 'from'],
  ['by=tag&top=10&step=day', /^Request a shorter period\.$/, 'from'],
] as const)(
  'refuses usage of more than 50,000 groups and offers what can help: %s [invalid_request]',
  async ([query, resolution, param], { usage, stack, fixture }) => {
    await fixture.run(
      `INSERT INTO money.usage_days (project, day, dimension, name, calls, prompt_tokens, completion_tokens, micro, durations, first_tokens)
       SELECT $1, '2026-03-02', 'tag', 'tag-' || n, 1, 1, 1, 1, '', '' FROM generate_series(1, 50001) n`,
      [stack.project],
    )
    const answer = await usage(`from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z&${query}`)
    expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', param])
    expect(answer.body.error.resolution).toMatch(resolution)
  },
)

test('refuses the top groups with more than 50,000 rows in their steps and offers fewer groups [invalid_request]', async ({
  usage,
  stack,
  fixture,
}) => {
  for (const [table, unit] of [
    ['usage_hours', 'hour'],
    ['usage_days', 'day'],
  ] as const)
    await fixture.run(
      `INSERT INTO money.${table} (project, ${unit}, dimension, name, calls, prompt_tokens, completion_tokens, micro, durations, first_tokens)
       SELECT DISTINCT $1, date_trunc('${unit}', timestamptz '2026-03-01' + n * interval '1 hour', 'UTC'), 'tag', 'tag-' || tag, 1, 1, 1, 1,
              ''::bytea, ''::bytea
         FROM generate_series(1, 501) n, generate_series(1, 100) tag`,
      [stack.project],
    )
  const asked = 'from=2026-03-01T00:00:00Z&to=2026-04-01T00:00:00Z&by=tag&step=hour'
  const answer = await usage(`${asked}&top=100`)
  expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', 'step'])
  expect(answer.body.error.resolution).toMatch(/a longer step, or fewer top groups\.$/)
  expect(outcomeOf(await usage(`${asked}&top=10`))).toBe('200')
})

test('only users who may use flows can read usage by flow [not_permitted]', async ({ stack }) => {
  const viewer = await stack.member({ project: 'Project Viewer' })
  const consumer = await stack.member({ project: 'Project Consumer' })
  expect(outcomeOf(await viewer.get(`${stack.projectPath}/usage?by=model`))).toBe('200')
  expect(outcomeOf(await viewer.get(`${stack.projectPath}/usage?by=sandbox`))).toBe('403 not_permitted')
  expect(outcomeOf(await consumer.get(`${stack.projectPath}/usage?by=sandbox`))).toBe('200')
})

test.for([
  ['step=day&zone=Mars/Base', 'zone', /such as Europe\/Berlin/],
  ['step=day&zone=%2B01:00', 'zone', /such as Europe\/Berlin/],
  ['step=hour&zone=Asia/Kolkata', 'zone', /step=day/],
  ['zone=Europe/Berlin', 'zone', /Correct zone/],
  ['step=day&by=day', 'step', /Correct step/],
  ['step=week', 'step', /Correct step/],
  ['step=hour&from=2026-01-01T00:00:00Z&to=2026-06-01T00:00:00Z', 'step', /at most 62 days/],
  ['format=xml', 'format', /Correct format/],
  ['top=101', 'top', /Correct top/],
  ['top=5&format=csv', 'top', /Correct top/],
  ['top=5&group=a', 'top', /Correct top/],
  ['top=5&by=day', 'top', /Correct top/],
  ['group=a&by=day', 'group', /Correct group/],
  ['order=calls', 'order', /Correct order/],
  ['top=5&order=name', 'order', /Correct order/],
] as const)(
  'rejects a usage query with %s and says how to correct it [invalid_request]',
  async ([query, param, says], { usage }) => {
    const answer = await usage(query)
    expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', param])
    expect(answer.body.error.resolution).toMatch(says)
  },
)
