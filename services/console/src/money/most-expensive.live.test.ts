import { expect } from 'vitest'
import { expectRowsRead } from '../request/rows-read.fixture.ts'
import { callsTest } from './calls.fixture.ts'
import { mostExpensiveCalls } from './invocations.ts'
import { readKnown } from './most-expensive.ts'

const CALLS = 3_000
const FROM = '2026-05-01T00:20:00Z'
const TO = '2026-05-20T10:40:00Z'

interface Found {
  id: string
  chargedMicro: number
}

const test = callsTest
  /** Calls of three models and two keys over a month, with few different charges, so that many are equal; some are free. */
  .extend('history', async ({ stack, fixture, tenant: _funded }) => {
    await fixture.run(
      `WITH call AS MATERIALIZED (
         SELECT n, 'inv_' || $1 || lpad(n::text, 5, '0') AS id, (random() ^ 4 * 40)::int AS micro,
                timestamptz '2026-05-01' + random() * interval '31 days' + n * interval '0' AS at
           FROM generate_series(1, ${CALLS}) n),
       entry AS (
         INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
         SELECT $1, journal_seq + n, 'settle', id, 0, -micro, micro, 0, now() FROM call, money.wallets WHERE project = $1)
       INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, reserved_micro, charged_micro, admitted_at, closed_at)
       SELECT id, id, 1, 'Settled', $1, 'acme/' || n % 3, CASE n % 5 WHEN 0 THEN 'key_a' WHEN 1 THEN 'key_b' ELSE '' END, 50, micro, at, at FROM call`,
      [stack.project],
    )
    return stack.project
  })
  .extend('compare', ({ stack, fixture, history }) => async () => {
    for (const [model, key, limit] of [
      [null, null, 1],
      [null, null, 40],
      ['acme/1', null, 25],
      ['acme/none', null, 5],
      [null, null, 500],
      [null, 'key_a', 1],
      [null, 'key_a', 40],
      [null, 'key_none', 5],
      ['acme/1', 'key_b', 25],
    ] as const) {
      const query = `order=cost&from=${FROM}&to=${TO}&limit=${limit}${model ? `&model=${model}` : ''}${key ? `&key=${key}` : ''}`
      const { body } = await stack.owner.get(`${stack.projectPath}/invocations?${query}`)
      const { rows } = await fixture.run(
        `SELECT id, charged_micro::int AS "chargedMicro" FROM money.attempts
          WHERE project = $1 AND state = 'Settled' AND admitted_at >= $2 AND admitted_at < $3 AND ($4::text IS NULL OR product = $4)
            AND ($5::text IS NULL OR key = $5)
          ORDER BY charged_micro DESC, admitted_at DESC, id DESC LIMIT $6`,
        [history, FROM, TO, model, key, limit],
      )
      const found = (body.data as Found[]).map(({ id, chargedMicro }) => ({ id, chargedMicro }))
      expect(found).toEqual(rows)
    }
  })

test('the most expensive calls are those of a sort of all, before the roll-up, amid it, after it and after an archive', async ({
  history,
  compare,
  fixture,
}) => {
  await compare()
  await fixture.run('UPDATE money.wallets SET journal_seq = journal_seq + $2 WHERE project = $1', [history, CALLS])
  await fixture.run('SELECT money.roll_up_usage(ARRAY[$1], $2)', [history, CALLS / 3])
  await compare()
  await fixture.run('SELECT money.roll_up_usage(ARRAY[$1], $2)', [history, CALLS])
  await compare()
  // As an archive of May leaves them, if some of its calls are still needed.
  await fixture.run(
    `INSERT INTO money.archives (month, manifest, folder, entries, attempts, at)
     VALUES ('2026-05-01', sha256(''), 'a', 1, '{2026-05-01}', now())`,
  )
  await fixture.run('SET session_replication_role = replica') // an archive drops partitions; rows can't be deleted
  await fixture.run(`DELETE FROM money.attempts WHERE project = $1 AND (charged_micro > 30 OR product = 'acme/2')`, [
    history,
  ])
  await compare()
  await fixture.run('DELETE FROM money.archives')
  await fixture.run('RESET session_replication_role')
})

test('the most expensive calls of a key are found without reading all of its calls', async ({
  stack,
  database,
  fixture,
  tenant: _funded,
}) => {
  const [hours, perHour] = [100, 50]
  await fixture.run(
    `INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, reserved_micro, charged_micro, admitted_at, closed_at)
     SELECT id, id, 1, 'Settled', $1, 'acme/m', 'key_' || $1, 50, n % 40, at, at
       FROM generate_series(0, ${hours * perHour - 1}) n, LATERAL (
         SELECT 'inv_' || $1 || n AS id, timestamptz '2026-05-01' + n / ${perHour} * interval '1 hour' AS at) c`,
    [stack.project],
  )
  await fixture.run(
    `INSERT INTO money.usage_hours (
       project, dimension, name, hour, calls, prompt_tokens, completion_tokens, micro, max_micro, durations, first_tokens)
     SELECT $1, 'key', 'key_' || $1, timestamptz '2026-05-01' + hour * interval '1 hour', ${perHour}, 0, 0, 1000, 39, '', ''
       FROM generate_series(0, ${hours - 1}) hour`,
    [stack.project],
  )
  await fixture.run('ANALYZE money.attempts')
  const { openDatabase } = await import('@gateway/database/client')
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
  try {
    const period = { from: new Date(FROM), to: new Date(TO) }
    const asked = { project: stack.project, key: `key_${stack.project}`, ...period, place: null, limit: 3 }
    const query = mostExpensiveCalls(asked, await readKnown({ prisma }, stack.project))
    await expectRowsRead(prisma, query, { most: 1_000, what: 'the most expensive calls of a key' })
  } finally {
    await close()
  }
})

test('hours of failed calls alone do not hide a free call', async ({ stack, fixture, tenant: _funded }) => {
  await fixture.run(
    `WITH call AS MATERIALIZED (
       SELECT n, 'inv_' || $1 || n AS id, n > 1 AS failed, timestamptz '2026-05-01' + n * interval '1 hour' AS at
         FROM generate_series(1, 9) n),
     entry AS (
       INSERT INTO money.journal (project, seq, kind, reference, available, reserved, settled, outside, at)
       SELECT $1, journal_seq + n, CASE WHEN failed THEN 'release' ELSE 'settle' END, id, 0, 0, 0, 0, now()
         FROM call, money.wallets WHERE project = $1)
     INSERT INTO money.attempts (id, invocation, attempt, state, project, product, key, reason, admitted_at, closed_at)
     SELECT id, id, 1, CASE WHEN failed THEN 'Released' ELSE 'Settled' END, $1, 'acme/m', '',
            CASE WHEN failed THEN 'provider a: timeout' END, at, at FROM call`,
    [stack.project],
  )
  const found = async () => {
    const query = 'order=cost&from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z&limit=1'
    const { body } = await stack.owner.get(`${stack.projectPath}/invocations?${query}`)
    return (body.data as Found[]).map(({ id }) => id)
  }
  const free = [`inv_${stack.project}1`]
  expect(await found()).toEqual(free)
  await fixture.run('UPDATE money.wallets SET journal_seq = journal_seq + 9 WHERE project = $1', [stack.project])
  await fixture.run('SELECT money.roll_up_usage(ARRAY[$1], 100000)', [stack.project])
  const hours = async () =>
    (await fixture.run(`SELECT FROM money.usage_hours WHERE project = $1 AND dimension = 'all'`, [stack.project])).rows
  await expect.poll(hours).toHaveLength(9) // the ledger rolls up as well
  expect(await found()).toEqual(free)
})
