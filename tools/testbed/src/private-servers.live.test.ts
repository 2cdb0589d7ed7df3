import { once } from 'node:events'
import { connect } from 'node:net'
import { Redis } from 'ioredis'
import { expect } from 'vitest'
import { ask } from './ask.ts'
import { freshRedis } from './fresh-redis.ts'
import { liveTest } from './live-test.ts'

liveTest(
  'a commit survives kill -9 of the Postgres server and an immediate stop',
  async ({ postgresServer: server }) => {
    await ask(server.adminUrl, `INSERT INTO control.tenants (id, name) VALUES ('ten_1', 'Acme')`)
    await server.kill()
    await server.restart()
    await ask(server.adminUrl, `INSERT INTO control.tenants (id, name) VALUES ('ten_2', 'Bolt')`)
    await server.stopImmediately()
    await expect(ask(server.adminUrl, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')
    await server.restart()
    expect(await ask(server.adminUrl, 'SELECT id FROM control.tenants ORDER BY id')).toEqual([
      { id: 'ten_1' },
      { id: 'ten_2' },
    ])
  },
)

liveTest('Postgres answers after a pause, and its log has the statement that waited', async ({ postgresServer }) => {
  const paused = postgresServer.pause(500)
  await expect(ask(postgresServer.adminUrl, 'SELECT no_such_column')).rejects.toThrow('no_such_column')
  await paused
  await expect.poll(postgresServer.log).toContain('STATEMENT:  SELECT no_such_column')
})

liveTest('Redis never evicts, and restarts on its port with its data', async ({ redisServer: server }) => {
  const redis = new Redis(server.url)
  expect(await redis.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction'])
  await redis.set('a', '1')
  redis.disconnect()
  await server.restart()
  const again = new Redis(server.url)
  expect(await again.get('a')).toBe('1')
  again.disconnect()
})

liveTest('a Redis that was killed is gone until its restart, and keeps its data', async ({ redisServer: server }) => {
  const redis = new Redis(server.url)
  await redis.set('a', '1')
  redis.disconnect()
  await server.stopImmediately()
  const { port } = new URL(server.url)
  const socket = connect(Number(port), '127.0.0.1')
  await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED')
  await server.restart()
  const again = new Redis(server.url)
  expect(await again.get('a')).toBe('1')
  again.disconnect()
})

liveTest('the shared Redis isolates the keys of each file', async ({ redis }) => {
  const another = await freshRedis()
  const [client, neighbour] = [new Redis(redis.url), new Redis(another.url)]
  await client.set('{svc}:nodes:a', '1')
  await neighbour.set('{svc}:nodes:a', '2')
  await redis.drop()
  expect(await client.dbsize()).toBe(0)
  expect(await neighbour.get('{svc}:nodes:a')).toBe('2')
  await another.drop()
  client.disconnect()
  neighbour.disconnect()
})
