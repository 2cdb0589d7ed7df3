import { databaseOf, withDatabase } from '@gateway/database/client'
import { Client } from 'pg'
import { expect } from 'vitest'
import { ask } from './ask.ts'
import { freshDatabase } from './fresh-database.ts'
import { liveTest } from './live-test.ts'
import { copyOf, onServer, startTestServers } from './test-servers.ts'

liveTest('fresh databases are migrated, empty and independent', async ({ database, onTestFinished }) => {
  const other = await freshDatabase()
  onTestFinished(other.drop)
  await ask(database.adminUrl, `INSERT INTO control.tenants (id, name) VALUES ('ten_1', 'Acme')`)
  expect(await ask(database.adminUrl, 'SELECT id FROM control.tenants')).toEqual([{ id: 'ten_1' }])
  expect(await ask(other.adminUrl, 'SELECT id FROM control.tenants')).toEqual([])
})

liveTest('the logins have their own permissions: only the ledger writes money', async ({ database }) => {
  const write = `INSERT INTO money.wallets (project) VALUES ('prj_1')`
  await ask(database.ledgerUrl, write)
  await expect(ask(database.consoleUrl, write)).rejects.toThrow('permission denied for table wallets')
})

liveTest('a database is dropped even with a session on it', async () => {
  const database = await freshDatabase()
  const session = new Client({ connectionString: database.adminUrl })
  const ended = new Promise((resolve) => session.on('error', resolve))
  await session.connect()
  await database.drop()
  await ended
  await expect(ask(database.adminUrl, 'SELECT 1')).rejects.toThrow('does not exist')
})

liveTest('the servers keep running until the last copy of their template is dropped', async ({ database, redis }) => {
  const given = { databaseUrl: database.adminUrl, redisUrl: redis.url }
  const servers = await startTestServers({ ...given, containers: false, log: () => {} })
  const template = databaseOf(servers.adminUrl)
  const copy = `${copyOf(template)}1`
  await onServer(servers.adminUrl, `CREATE DATABASE ${copy} TEMPLATE ${template}`)
  const order: string[] = []
  const stopped = servers.stop().then(() => order.push('servers'))
  await ask(withDatabase(servers.adminUrl, copy), 'SELECT pg_sleep(0.2)')
  order.push('copy')
  await onServer(servers.adminUrl, `DROP DATABASE ${copy}`)
  await stopped
  expect(order).toEqual(['copy', 'servers'])
  const left = await ask(database.adminUrl, 'SELECT datname FROM pg_database WHERE datname = $1', [template])
  expect(left).toEqual([])
})
