import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { openDatabase, type Database, type DatabaseOptions, withDatabase, withLogin } from './client.ts'

const clientTest = liveTest.extend('open', async ({ database }, { onCleanup }) => {
  const opened: Database[] = []
  onCleanup(async () => {
    for (const each of opened) await each.close()
  })
  return async (options: Partial<DatabaseOptions> = {}) => {
    const made = await openDatabase({ url: database.ledgerUrl, poolSize: 1, ...options })
    opened.push(made)
    return made.prisma
  }
})

clientTest(
  'reads back the same time that it wrote, even if the database has another time zone',
  async ({ open, database }) => {
    const owner = await open({ url: database.adminUrl })
    const name = new URL(database.adminUrl).pathname.slice(1)
    await owner.$executeRawUnsafe(`ALTER DATABASE ${name} SET timezone = 'America/New_York'`)
    const at = new Date('2026-11-20T12:34:56.789Z')
    const prisma = await open({ url: database.adminUrl })
    expect(
      await prisma.$queryRaw`SELECT ${at}::timestamptz AS at, extract(epoch FROM ${at}::timestamptz)::float8 AS s`,
    ).toEqual([{ at, s: at.getTime() / 1_000 }])
  },
)

clientTest('names the service in the application_name of a session', async ({ open }) => {
  const prisma = await open({ role: 'ledger' })
  expect(await prisma.$queryRaw`SELECT current_setting('application_name') AS name`).toEqual([{ name: 'svc-ledger' }])
})

clientTest('replaces a broken connection', async ({ open, database }) => {
  const lost = Promise.withResolvers<Error>()
  const prisma = await open({ onConnectionLost: lost.resolve })
  const [{ pid }] = await prisma.$queryRaw<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
  const owner = await open({ url: database.adminUrl })
  await owner.$queryRaw`SELECT pg_terminate_backend(${pid}::int)`
  expect((await lost.promise).message).toContain('terminating connection')
  const [after] = await prisma.$queryRaw<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
  expect(after.pid).not.toBe(pid)
})

clientTest('reports no connection that breaks while it closes', async ({ open, database }) => {
  const owner = await open({ url: database.adminUrl })
  const lost: string[] = []
  for (let n = 0; n < 10; n++) {
    const role = `closing-${n}`
    const onConnectionLost = ({ message }: Error) => void lost.push(message)
    const closing = await openDatabase({ url: database.ledgerUrl, poolSize: 8, role, onConnectionLost })
    await Promise.all(Array.from({ length: 8 }, () => closing.prisma.$queryRaw`SELECT pg_sleep(0.02)::text`))
    const backends = await owner.$queryRaw<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity WHERE application_name = ${`svc-${role}`}`
    expect(backends).toHaveLength(8)
    await Promise.all([
      closing.close(),
      owner.$queryRaw`SELECT pg_terminate_backend(pid) FROM unnest(${backends.map(({ pid }) => pid)}::int[]) pid`,
    ])
  }
  expect(lost).toEqual([])
})

clientTest('reports an unusable database in one message without the password', async ({ open, database }) => {
  const wrongPassword = open({ url: withLogin(database.ledgerUrl, 'svc_ledger_login', 'hunter2') })
  await expect(wrongPassword).rejects.toThrow(
    /Postgres can't be used as svc_ledger_login@127.0.0.1.*: .*[Aa]uthentication failed/s,
  )
  await expect(wrongPassword).rejects.not.toThrow('hunter2')
  const missing = open({ url: withDatabase(database.ledgerUrl, 'nowhere') })
  await expect(missing).rejects.toThrow(/nowhere.* does not exist/s)
})
