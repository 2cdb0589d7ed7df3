import { Client } from 'pg'
import { describe, expect } from 'vitest'
import { openDatabase, type Database } from '@gateway/database/client'
import { startFaultProxy, type FaultProxy } from '@gateway/testbed/fault-proxy'
import { test as tenantTest } from '../fixtures/ledger-test.ts'
import { classify, lockedOut } from './classify-error.ts'

// Errors of real servers and sockets, as Prisma and its driver throw them.

interface Setup {
  /** Runs a statement on its own connection, as superuser. */
  run: (sql: string, ...values: unknown[]) => Promise<unknown>
  /** A second session. */
  second: Client
}

const test = tenantTest
  .extend('tables', { scope: 'file' }, async ({ fixture }) => {
    await fixture.run('CREATE TABLE numbered (n int PRIMARY KEY, positive int CHECK (positive > 0))')
    await fixture.run('INSERT INTO numbered VALUES (1, 1)')
  })
  .extend('setup', async ({ database, tables: _ }, { onCleanup }): Promise<Setup> => {
    const own = await openDatabase({ url: database.adminUrl, poolSize: 1 })
    const second = new Client({ connectionString: database.adminUrl })
    await second.connect()
    onCleanup(async () => {
      await second.end()
      await own.close()
    })
    return { run: (sql, ...values) => own.prisma.$queryRawUnsafe(sql, ...values), second }
  })

const raise = (code: string) => `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`

const fromPostgres: [what: string, kind: 'transient' | 'final', provoke: (setup: Setup) => Promise<unknown>][] = [
  ['a statement_timeout', 'transient', after('SET statement_timeout = 20', 'SELECT pg_sleep(30)')],
  ['a transaction_timeout', 'transient', after('SET transaction_timeout = 20', 'SELECT pg_sleep(30)')],
  ['a read-only server', 'transient', after('SET default_transaction_read_only = on', 'DELETE FROM numbered')],
  ['a serialization failure', 'transient', ({ run }) => run('DO $$ BEGIN RAISE serialization_failure; END $$')],
  ['a deadlock', 'transient', ({ run }) => run(raise('40P01'))],
  ['a full disk', 'transient', ({ run }) => run(raise('53100'))],
  ['too many connections', 'transient', ({ run }) => run(raise('53300'))],
  ['a server that is starting up', 'transient', ({ run }) => run(raise('57P03'))],
  ['an unreadable disk', 'transient', ({ run }) => run(raise('58030'))],
  ['a unique violation', 'final', ({ run }) => run('INSERT INTO numbered VALUES (1, 1)')],
  ['a check violation', 'final', ({ run }) => run('INSERT INTO numbered VALUES (2, 0)')],
  ['a null in a non-null column', 'final', ({ run }) => run('INSERT INTO numbered VALUES (NULL, 1)')],
  ['an integer overflow', 'final', ({ run }) => run('SELECT 9223372036854775807::bigint + 1')],
  ['a parameter too large for its type', 'final', ({ run }) => run('SELECT $1::int[]', [3_000_000_000])],
  ['RAISE EXCEPTION', 'final', ({ run }) => run(`DO $$ BEGIN RAISE EXCEPTION 'no'; END $$`)],
  ['a NUL byte in a text', 'final', ({ run }) => run('SELECT $1::text', 'nul \u0000 byte')],
  ['a NUL byte in a text array', 'final', ({ run }) => run('SELECT $1::text[]', ['nul \u0000 byte'])],
  ['a missing table', 'final', ({ run }) => run('SELECT * FROM nowhere')],
  ['a missing privilege', 'final', ({ run }) => run(raise('42501'))],
  ['a bug in the server', 'final', ({ run }) => run(raise('XX000'))],
]

describe('an error raised by Postgres', () => {
  for (const [what, kind, provoke] of fromPostgres) {
    test(`${what} is ${kind}`, async ({ setup }) => {
      const error = await failureOf(provoke(setup))
      expect(classify(error)).toBe(kind)
      expect(lockedOut(error)).toBe(false)
    })
  }

  test('a lock_timeout is transient and recognized as a lockout', async ({ setup: { run, second } }) => {
    await second.query('BEGIN; LOCK TABLE numbered')
    const error = await failureOf(after('SET lock_timeout = 20', 'SELECT * FROM numbered')({ run, second }))
    await second.query('ROLLBACK')
    expect([classify(error), lockedOut(error)]).toEqual(['transient', true])
  })

  test('a session terminated by an operator is transient', async ({ setup: { run, second } }) => {
    const [{ pid }] = (await run('SELECT pg_backend_pid() AS pid')) as [{ pid: number }]
    const failing = failureOf(run('SELECT pg_sleep(30)'))
    await untilItSleeps(second, pid)
    await second.query('SELECT pg_terminate_backend($1)', [pid])
    expect(classify(await failing)).toBe('transient')
  })
})

describe('an error of the connection to Postgres', () => {
  const cuts: [what: string, cut: (proxy: FaultProxy) => void | Promise<void>][] = [
    ['a connection reset', (proxy) => proxy.reset()],
    ['a server shutdown', (proxy) => proxy.down()],
    ['a connection that falls silent', (proxy) => proxy.fallSilent()],
  ]
  for (const [what, cut] of cuts) {
    test(`${what} during a query is transient`, async ({ setup: { second }, database }) => {
      await throughProxy(database.adminUrl, async (proxied, proxy) => {
        const [{ pid }] = await proxied.prisma.$queryRaw<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
        const failing = failureOf(proxied.prisma.$queryRawUnsafe('SELECT pg_sleep(30)'))
        await untilItSleeps(second, pid)
        await cut(proxy)
        expect(classify(await failing)).toBe('transient')
        await second.query('SELECT pg_terminate_backend($1)', [pid]) // otherwise it would keep sleeping
      })
    })
  }

  test('a connection that breaks while a query is being sent is transient', async ({ database }) => {
    await throughProxy(database.adminUrl, async ({ prisma }, proxy) => {
      const cut = proxy.cutAfter(100_000, 'toServer')
      const failing = failureOf(prisma.$queryRawUnsafe('SELECT $1::text', 'x'.repeat(20_000_000)))
      await cut
      expect(classify(await failing)).toBe('transient')
    })
  })

  test('a server that refuses connections is transient', async ({ database }) => {
    await throughProxy(database.adminUrl, async ({ prisma }, proxy) => {
      await proxy.down()
      await failureOf(prisma.$queryRaw`SELECT 1`) // the first query only notices the broken connection
      expect(classify(await failureOf(prisma.$queryRaw`SELECT 1`))).toBe('transient')
    })
  })

  for (const code of ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'])
    test(`${code} thrown by the driver is transient`, () => {
      expect(classify(Object.assign(new Error(`write ${code}`), { code, syscall: 'write' }))).toBe('transient')
    })
})

describe('a programming error', () => {
  for (const bug of [new TypeError('undefined is not a function'), new RangeError('Invalid string length')])
    test(`${bug.name} is final`, () => {
      expect([classify(bug), lockedOut(bug)]).toEqual(['final', false])
    })
})

function after(setting: string, sql: string): (setup: Setup) => Promise<unknown> {
  return async ({ run }) => {
    await run(setting)
    return run(sql)
  }
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  const ended = await work.then(
    () => null,
    (error: unknown) => ({ error }),
  )
  if (ended === null) throw new Error('it did not fail')
  return ended.error
}

async function untilItSleeps(second: Client, pid: number): Promise<void> {
  const sql = `SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'`
  while ((await second.query(sql, [pid])).rowCount === 0);
}

async function throughProxy(url: string, work: (proxied: Database, proxy: FaultProxy) => Promise<void>): Promise<void> {
  const { hostname, port } = new URL(url)
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
  const proxied = await openDatabase({ url: proxy.through(url), poolSize: 1, queryLimitMs: 2_000 })
  try {
    await work(proxied, proxy)
  } finally {
    await proxied.close()
    await proxy.close()
  }
}
