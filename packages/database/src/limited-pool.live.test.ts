import { startFaultProxy, type FaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { openDatabase, type Database, type DatabaseOptions } from './client.ts'

interface Proxied extends Database {
  proxy: FaultProxy
  lost: Error[]
}

const QUERY_LIMIT_MS = 500

const proxiedTest = liveTest.extend('proxied', async ({ database }, { onCleanup }) => {
  const stops: (() => Promise<void>)[] = []
  onCleanup(async () => {
    for (const stop of stops.toReversed()) await stop()
  })
  return async (options: Partial<DatabaseOptions> = {}): Promise<Proxied> => {
    const { hostname, port } = new URL(database.ledgerUrl)
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
    stops.push(proxy.close)
    const lost: Error[] = []
    const opened = await openDatabase({
      url: proxy.through(database.ledgerUrl),
      poolSize: 1,
      queryLimitMs: QUERY_LIMIT_MS,
      onConnectionLost: (error) => lost.push(error),
      ...options,
    })
    stops.push(opened.close)
    return { ...opened, proxy, lost }
  }
})

const one = ({ prisma }: Database) => prisma.$queryRaw<unknown[]>`SELECT 1 AS n`
const three = 3

proxiedTest('a query on a silent connection fails, and the next one gets a new connection', async ({ proxied }) => {
  const database = await proxied()
  database.proxy.fallSilent()
  await expect(one(database)).rejects.toThrow()
  expect(await one(database)).toEqual([{ n: 1 }])
})

proxiedTest('a transaction on a silent connection fails, and the connection is not reused', async ({ proxied }) => {
  const database = await proxied()
  const transaction = database.prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1`
    database.proxy.fallSilent()
    await tx.$queryRaw`SELECT 2`
  })
  await expect(transaction).rejects.toThrow()
  expect(await one(database)).toEqual([{ n: 1 }])
})

proxiedTest('a silent connection closes the idle connections too', async ({ proxied }) => {
  const silences: number[] = []
  const database = await proxied({ poolSize: three, onSilence: () => silences.push(1) })
  await Promise.all(Array.from({ length: three }, () => database.prisma.$queryRaw`SELECT pg_sleep(0.05)::text`))
  expect(database.proxy.connections).toBe(three)
  database.proxy.fallSilent()
  await expect(one(database)).rejects.toThrow()
  expect(silences).toEqual([1])
  // Each of the others would have cost a query its whole time limit.
  expect(await Promise.all([one(database), one(database), one(database)])).toEqual(
    Array.from({ length: three }, () => [{ n: 1 }]),
  )
  expect(silences).toEqual([1])
})

proxiedTest('queries fail while new connections are silent too, and succeed once they respond', async ({ proxied }) => {
  const database = await proxied()
  database.proxy.fallSilent({ newConnections: 'silent' })
  await expect(one(database)).rejects.toThrow()
  await expect(one(database)).rejects.toThrow(/timeout/i)
  database.proxy.heal()
  expect(await one(database)).toEqual([{ n: 1 }])
})

proxiedTest(
  'a slow query is cancelled by Postgres and its connection does not count as silent',
  async ({ proxied }) => {
    const silences: number[] = []
    const database = await proxied({ onSilence: () => silences.push(1) })
    await expect(database.prisma.$queryRaw`SELECT pg_sleep(60)::text`).rejects.toThrow(/57014/)
    expect(await one(database)).toEqual([{ n: 1 }])
    expect(silences).toEqual([])
  },
)

proxiedTest(
  'a statement on an abandoned connection does not keep running in Postgres',
  async ({ proxied, database }) => {
    const asking = await proxied({ queryLimitMs: 2_000 })
    const looking = await openDatabase({ url: database.adminUrl, poolSize: 1 })
    const running = () => looking.prisma.$queryRaw<unknown[]>`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT pg_sleep(60)%'`
    const sleeping = asking.prisma.$queryRaw`SELECT pg_sleep(60)::text`.then(() => 'slept')
    await expect.poll(running).toHaveLength(1)
    asking.proxy.fallSilent({ newConnections: 'silent' })
    await expect(sleeping).rejects.toThrow()
    asking.proxy.reset() // as the kernels do some seconds after the network is lost
    await expect.poll(running, { timeout: 10_000 }).toEqual([])
    await looking.close()
  },
)
