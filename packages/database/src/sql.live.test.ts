import { liveTest } from '@gateway/testbed/live-test'
import { DatabaseError } from 'pg'
import { expect } from 'vitest'
import { openDatabase, type Sql } from './client.ts'

const test = liveTest.extend('open', async ({ database }, { onCleanup }) => {
  const closings: (() => Promise<void>)[] = []
  onCleanup(async () => void (await Promise.all(closings.map((close) => close()))))
  return async (options: { queryLimitMs?: number; preparedStatements?: boolean } = {}) => {
    const opened = await openDatabase({ url: database.adminUrl, poolSize: 1, ...options })
    closings.push(opened.close)
    return opened
  }
})

const sessionOf = async (sql: Sql) => (await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]!.pid

test('returns each type as documented', async ({ open }) => {
  const { sql } = await open()
  const text = `SELECT 9007199254740993::bigint AS large, 7 AS small, '\\x00ff'::bytea AS bytes, true AS yes, NULL::text AS nothing,
                       '2026-11-22T23:30:00Z'::timestamptz AS at, '2026-11-22'::date AS day, 1.50::numeric AS exact,
                       '{"a":[1]}'::jsonb AS value, ARRAY['x', NULL] AS texts, ARRAY['\\x01'::bytea] AS lists`
  expect(await sql.query(text)).toEqual([
    {
      large: 9_007_199_254_740_993n,
      small: 7,
      bytes: Buffer.from([0, 255]),
      yes: true,
      nothing: null,
      at: new Date('2026-11-22T23:30:00Z'),
      day: '2026-11-22',
      exact: '1.50',
      value: { a: [1] },
      texts: ['x', null],
      lists: [Buffer.from([1])],
    },
  ])
})

test('passes lists with any content', async ({ open }) => {
  const { sql } = await open()
  const texts = ['', 'NULL', null, '"quoted"', 'back\\slash', '{brace, comma}', '🦆 é', 'new\nline']
  const numbers = [1, null, -2_147_483_648]
  const flags = [true, null, false]
  const bytes = [Buffer.alloc(0), Buffer.from([0, 92, 34, 255]), new Uint8Array([7])]
  const asked = [texts, numbers, flags, bytes, 5n]
  expect(
    await sql.query('SELECT $1::text[] a, $2::int[] b, $3::boolean[] c, $4::bytea[] d, $5::bigint e', asked),
  ).toEqual([{ a: texts, b: numbers, c: flags, d: bytes.map((one) => Buffer.from(one)), e: 5n }])
})

test('prepares a statement once, or never if that is turned off', async ({ open }) => {
  const prepared = `SELECT count(*)::int AS n FROM pg_prepared_statements WHERE statement LIKE 'SELECT _ AS one'`
  for (const [preparedStatements, n] of [
    [true, 3],
    [false, 0],
  ] as const) {
    const { sql, prisma } = await open({ preparedStatements })
    for (let times = 0; times < 3; times++) {
      await sql.query('SELECT 1 AS one')
      await prisma.$queryRawUnsafe('SELECT 2 AS one')
    }
    await sql.query('SELECT 3 AS one')
    await prisma.$queryRawUnsafe('SELECT 3 AS one') // the same text has the same name for every caller
    expect(await sql.query(prepared)).toEqual([{ n }])
  }
})

test('a refused statement keeps its connection and has its SQLSTATE', async ({ open }) => {
  const { sql } = await open()
  const before = await sessionOf(sql)
  await expect(sql.query('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012', severity: 'ERROR' })
  await expect(sql.transaction((tx) => tx.query('SELECT * FROM nowhere'))).rejects.toBeInstanceOf(DatabaseError)
  expect(await sessionOf(sql)).toBe(before)
})

test('a cancelled statement closes its connection, also within a transaction', async ({ open }) => {
  const { sql } = await open({ queryLimitMs: 500 })
  for (const ask of [
    () => sql.query('SELECT pg_sleep(30)'),
    () => sql.transaction((tx) => tx.query('SELECT pg_sleep(30)')),
  ]) {
    const before = await sessionOf(sql)
    await expect(ask()).rejects.toMatchObject({ code: '57014' })
    expect(await sessionOf(sql)).not.toBe(before)
  }
})

test('a connection that breaks between two statements of a transaction fails only the transaction', async ({
  open,
}) => {
  const [{ sql }, { sql: second }] = [await open(), await open()]
  const broken = sql.transaction(async (tx) => {
    await second.query('SELECT pg_terminate_backend($1)', [await sessionOf(tx)])
    const here = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'svc'`
    while ((await second.query(here)).length > 1); // other tests have sessions on this server too
    await new Promise(setImmediate) // lets the socket's data be read
    await tx.query('SELECT 1')
  })
  await expect(broken).rejects.toThrow()
  expect(await sessionOf(sql)).toBeGreaterThan(0)
})

test('a transaction takes effect completely or not at all', async ({ open }) => {
  const { sql } = await open()
  await sql.query('CREATE TABLE pages (n int PRIMARY KEY)')
  const numbers = async () => (await sql.query<{ n: number }>('SELECT n FROM pages ORDER BY n')).map(({ n }) => n)
  const add = (tx: Sql, n: number) => tx.query('INSERT INTO pages VALUES ($1)', [n])
  const answered = await sql.transaction(async (tx) => {
    await add(tx, 1)
    await add(tx, 2)
    return 'both'
  })
  expect([answered, await numbers()]).toEqual(['both', [1, 2]])

  const failed = sql.transaction(async (tx) => {
    await add(tx, 3)
    throw new RangeError('a bug')
  })
  await expect(failed).rejects.toThrow(RangeError)
  const refused = sql.transaction(async (tx) => {
    await add(tx, 4)
    await add(tx, 1)
  })
  await expect(refused).rejects.toMatchObject({ code: '23505' })
  const swallowed = sql.transaction(async (tx) => {
    await add(tx, 5)
    await add(tx, 1).catch(() => {})
    return 'as if it were there'
  })
  await expect(swallowed).rejects.toThrow('rolled back')
  expect(await numbers()).toEqual([1, 2])
})
