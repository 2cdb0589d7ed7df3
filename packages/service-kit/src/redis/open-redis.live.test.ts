import { liveTest } from '@gateway/testbed/live-test'
import { startCluster, startSentinelGroup } from '@gateway/testbed/redis-groups'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { expect, onTestFinished } from 'vitest'
import { mastersOf, openRedis, type RedisClient } from './open-redis.ts'

// A connection behaves the same for each form of the address.

const waiting = { maxRetriesPerRequest: null, retryStrategy: () => 50, connectTimeout: 2_000 }
const failFast = { ...waiting, maxRetriesPerRequest: 0, enableOfflineQueue: false, commandTimeout: 2_000 }

const test = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('open', ({}, { onCleanup }) => {
    const opened: RedisClient[] = []
    onCleanup(() => opened.forEach((client) => client.disconnect()))
    return (url: string, options: Parameters<typeof openRedis>[1] = waiting) => {
      const client = openRedis(url, options)
      client.on('error', () => {})
      opened.push(client)
      return client
    }
  })
  // oxlint-disable-next-line no-empty-pattern -- as above
  .extend('sentinels', async ({}, { onCleanup }) => {
    const group = await startSentinelGroup()
    onCleanup(group.stop)
    return group
  })
  // oxlint-disable-next-line no-empty-pattern -- as above
  .extend('cluster', async ({}, { onCleanup }) => {
    const group = await startCluster()
    onCleanup(group.stop)
    return group
  })

test('openRedis connects to one server', async ({ open, redis }) => {
  const client = open(redis.url)
  await client.set(`${redis.prefix}a`, '1')
  expect(await client.get(`${redis.prefix}a`)).toBe('1')
  expect(mastersOf(client)).toHaveLength(1)
})

test('openRedis follows the Sentinels to the master, and to the next one when it dies', async ({ open, sentinels }) => {
  const client = open(sentinels.url)
  await client.set('kept', 'yes')
  await client.wait(1, 0)
  await sentinels.killMaster()
  expect(await client.set('after', 'yes')).toBe('OK') // waits for the replica to be promoted
  expect(await client.get('kept')).toBe('yes')
})

test('openRedis asks the next Sentinel when one accepts but stays silent', async ({ open, sentinels }) => {
  const { host } = new URL(sentinels.url)
  const proxy = await startFaultProxy({ host: '127.0.0.1', port: Number(host.split(':')[1]) })
  onTestFinished(() => proxy.close())
  proxy.fallSilent({ newConnections: 'silent' })
  const client = open(sentinels.url.replace(host, `${proxy.host}:${proxy.port},${host}`), {
    ...waiting,
    connectTimeout: 200,
  })
  expect(await client.set('a', '1')).toBe('OK')
})

test('a command of a connection that does not wait fails while there is no master', async ({ open, sentinels }) => {
  const client = open(sentinels.url, failFast)
  await new Promise((resolve) => client.once('ready', resolve))
  const closed = new Promise((resolve) => client.once('close', resolve))
  const again = closed.then(() => new Promise((resolve) => client.once('ready', resolve)))
  await sentinels.killMaster()
  await closed
  await expect(client.set('a', '1')).rejects.toThrow()
  await again
  expect(await client.set('a', '1')).toBe('OK')
})

test('a Cluster supports keys with one hash tag, pipelines and messages', async ({ open, cluster }) => {
  const [client, listener] = [open(cluster.url), open(cluster.url)]
  await client.mset('{svc}:a', '1', '{svc}:b', '2')
  expect(await client.mget('{svc}:a', '{svc}:b')).toEqual(['1', '2'])
  expect(mastersOf(client)).toHaveLength(1)
  const heard = new Promise((resolve) => listener.once('message', (channel, text) => resolve([channel, text])))
  await listener.subscribe('topics')
  await client.pipeline().publish('topics', 'now').exec()
  expect(await heard).toEqual(['topics', 'now'])
})

test('openRedis refuses an address of unknown form without quoting it', () => {
  expect(() => openRedis('http://user:hunter2@redis', waiting)).toThrow(/^((?!hunter2).)*$/)
})
