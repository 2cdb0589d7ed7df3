import { expect } from 'vitest'
import { consoleTest, outcomeOf } from '../console.fixture.ts'

const HOUR = '2026-11-20T09:00:00.000Z'
const period = 'from=2026-11-20T09:30:00Z&to=2026-11-20T11:00:00Z'

const test = consoleTest.extend('refused', async ({ stack, fixture }) => {
  await fixture.run(
    `INSERT INTO money.refusal_hours (project, hour, key, code, count) VALUES
       ($1, $2::timestamptz, 'key_a', 'key_limit', 2), ($1, $2, 'key_b', 'key_limit', 3),
       ($1, $2::timestamptz + interval '1 hour', 'key_a', 'invalid_json', 4),
       ($1, $2::timestamptz + interval '2 hours', 'key_a', 'invalid_json', 5), ('other ' || $1, $2, 'key_c', 'key_limit', 9)`,
    [stack.project, HOUR],
  )
  await fixture.run(
    `INSERT INTO money.latest_refusals (project, at, request, key, model, code)
     VALUES ($1, $2::timestamptz, 'req_1', 'key_a', 'acme/swift', 'key_limit'),
            ($1, $2::timestamptz + interval '1 second', 'req_2', 'key_a', 'sbx-secret', 'input_type')`,
    [stack.project, HOUR],
  )
  return `${stack.projectPath}/refusals`
})

test('counts refusals by hour and code, for the whole hours of the period', async ({ stack, refused }) => {
  const { body } = await stack.owner.get(`${refused}?${period}`)
  expect(body).toEqual({
    from: HOUR,
    to: '2026-11-20T11:00:00.000Z',
    by: 'code',
    data: [
      { hour: HOUR, group: 'key_limit', count: 5 },
      { hour: '2026-11-20T10:00:00.000Z', group: 'invalid_json', count: 4 },
    ],
    total: 9,
  })
})

test('counts refusals by hour and key', async ({ stack, refused }) => {
  const { body } = await stack.owner.get(`${refused}?${period}&by=key`)
  expect(body.data).toEqual([
    { hour: HOUR, group: 'key_a', count: 2 },
    { hour: HOUR, group: 'key_b', count: 3 },
    { hour: '2026-11-20T10:00:00.000Z', group: 'key_a', count: 4 },
  ])
})

test('with step=none, counts each group once with its latest hour', async ({ stack, refused }) => {
  const { body } = await stack.owner.get(`${refused}?${period}&by=key&step=none`)
  expect([body.data, body.total]).toEqual([
    [
      { hour: HOUR, group: 'key_b', count: 3 },
      { hour: '2026-11-20T10:00:00.000Z', group: 'key_a', count: 6 },
    ],
    9,
  ])
})

test('refuses more rows by hour than it may return, and counts the same period with step=none [invalid_request]', async ({
  stack,
  fixture,
}) => {
  await fixture.run(
    `INSERT INTO money.refusal_hours (project, hour, key, code, count)
     SELECT $1, timestamptz '2026-11-01' + hour * interval '1 hour', 'key_' || key, 'key_limit', 2
       FROM generate_series(0, 500) hour, generate_series(1, 100) key`,
    [stack.project],
  )
  const path = `${stack.projectPath}/refusals?by=key&from=2026-11-01T00:00:00Z&to=2026-11-30T00:00:00Z`
  const refused = await stack.owner.get(path)
  expect([outcomeOf(refused), refused.body.error.param]).toEqual(['400 invalid_request', 'from'])
  expect(refused.body.error.resolution).toContain('step=none')
  const { body } = await stack.owner.get(`${path}&step=none`)
  expect([body.data.length, body.data[0].count, body.total]).toEqual([100, 1_002, 100_200])
})

test('counts the refusals of the last day if no period is given', async ({ stack, fixture }) => {
  await fixture.run(
    `INSERT INTO money.refusal_hours (project, hour, key, code, count)
     VALUES ($1, date_trunc('hour', now(), 'UTC'), 'key_a', 'key_limit', 1),
            ($1, date_trunc('hour', now(), 'UTC') - interval '26 hours', 'key_a', 'key_limit', 1)`,
    [stack.project],
  )
  expect((await stack.owner.get(`${stack.projectPath}/refusals`)).body.total).toBe(1)
})

test('lists recent refusals newest first, with their HTTP status', async ({ stack, refused }) => {
  const { body } = await stack.owner.get(`${refused}/recent`)
  expect(body.data).toEqual([
    {
      at: '2026-11-20T09:00:01.000Z',
      key: 'key_a',
      model: 'sbx-secret',
      code: 'input_type',
      status: 422,
      requestId: 'req_2',
    },
    { at: HOUR, key: 'key_a', model: 'acme/swift', code: 'key_limit', status: 403, requestId: 'req_1' },
  ])
})

test('hides the IDs of sandbox products from a user who may not use them', async ({ stack, refused }) => {
  const viewer = await stack.member({ project: 'Project Viewer' })
  const { body } = await viewer.get(`${refused}/recent`)
  expect(body.data.map(({ model }: { model: string | null }) => model)).toEqual([null, 'acme/swift'])
})

test.for([
  'by=model',
  'step=day',
  'from=2026-11-20T09:00:00Z&to=2026-11-20T08:00:00Z',
  'from=2026-01-01T00:00:00Z&to=2026-03-01T00:00:00Z',
])('rejects a query for refusals with %s [invalid_request]', async (query, { stack }) => {
  expect(outcomeOf(await stack.owner.get(`${stack.projectPath}/refusals?${query}`))).toBe('400 invalid_request')
})
