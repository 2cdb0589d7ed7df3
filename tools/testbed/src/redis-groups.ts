import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { startTied, type TiedProcess } from '@gateway/local-stack/end-with-starter'
import { freePort } from '@gateway/local-stack/free-port'
import { findRedis } from '@gateway/local-stack/redis-binary'
import { Redis } from 'ioredis'
import { temporaryFolder } from './test-servers.ts'

// Groups of Redis servers, each a process on loopback, for tests that kill one of them. All run the same program, so
// any way to run one server works for these too, except a server in a container.

export interface RedisGroup {
  /** In one of the forms of REDIS_URL. */
  url: string
  stop(): Promise<void>
}

/** A master, a replica of it and one Sentinel that replaces the master within about a second of its death. */
export async function startSentinelGroup(): Promise<RedisGroup & { killMaster(): Promise<void> }> {
  const group = await openGroup()
  try {
    const master = await group.server('master', [])
    await group.server('replica', ['--replicaof', '127.0.0.1', String(master.port)])
    await until(master.port, async (redis) => /slave0:.*state=online/.test(await redis.info('replication')))
    const watch = [
      `sentinel monitor main 127.0.0.1 ${master.port} 1`,
      'sentinel down-after-milliseconds main 500',
      'sentinel failover-timeout main 3000',
    ]
    const sentinel = await group.sentinel(watch)
    await until(sentinel.port, async (redis) => /slaves=1/.test(await redis.info('sentinel')))
    return {
      url: `redis+sentinel://127.0.0.1:${sentinel.port}/main`,
      stop: group.stop,
      async killMaster() {
        master.process.signal('SIGKILL')
        await master.process.ended
      },
    }
  } catch (error) {
    await group.stop()
    throw error
  }
}

/** A Cluster of one node that holds every slot. */
export async function startCluster(): Promise<RedisGroup> {
  const group = await openGroup()
  try {
    const bus = String(await freePort(undefined, 'Redis'))
    const itself = ['--cluster-enabled', 'yes', '--cluster-port', bus, '--cluster-announce-ip', '127.0.0.1']
    const node = await group.server('node', itself)
    const redis = new Redis(node.port, '127.0.0.1')
    await redis.cluster('ADDSLOTSRANGE', 0, 16_383)
    redis.disconnect()
    await until(node.port, async (one) => /cluster_state:ok/.test(await one.cluster('INFO')))
    return { url: `redis+cluster://127.0.0.1:${node.port}`, stop: group.stop }
  } catch (error) {
    await group.stop()
    throw error
  }
}

async function openGroup() {
  const cacheFolder = path.resolve(import.meta.dirname, '../../../.cache/redis')
  const binary = await findRedis({ cacheFolder, log: () => {} })
  if (binary.from === 'docker') throw new Error('Redis servers that find each other need redis-server on this machine.')
  const folder = await temporaryFolder('redis-group')
  const running: TiedProcess[] = []
  const [command = '', ...words] = binary.command

  async function start(name: string, args: (port: number, place: string) => Promise<string[]>) {
    const port = await freePort(undefined, 'Redis')
    const place = path.join(folder, name)
    await mkdir(place)
    const started = await startTied(
      {
        command,
        args: [...words, ...(await args(port, place))],
        cwd: '/',
        endWith: [{ signal: 'SIGTERM', graceMs: 5_000 }],
        removeIfOrphaned: folder,
      },
      path.join(place, 'log'),
    )
    running.push(started)
    await until(port, async (redis) => (await redis.ping()) === 'PONG')
    return { port, process: started }
  }

  return {
    server: (name: string, more: string[]) =>
      start(name, async (port, place) => {
        const settings = [
          '--bind',
          '127.0.0.1',
          '--port',
          String(port),
          '--dir',
          place,
          '--save',
          '',
          '--appendonly',
          'no',
        ]
        return [...settings, '--maxmemory-policy', 'noeviction', '--repl-diskless-sync-delay', '0', ...more]
      }),
    sentinel: (watch: string[]) =>
      start('sentinel', async (port, place) => {
        const file = path.join(place, 'sentinel.conf') // Sentinel rewrites it
        await writeFile(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${place}`, ...watch, ''].join('\n'))
        return [file, '--sentinel']
      }),
    async stop() {
      await Promise.all(running.map((one) => one.stop()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const LIMIT_MS = 20_000

/** Polls until the result is true. */
async function until(port: number, ask: (redis: Redis) => Promise<boolean>): Promise<void> {
  const late = performance.now() + LIMIT_MS
  const redis = new Redis(port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: null })
  redis.on('error', () => {})
  try {
    while (!(await ask(redis).catch(() => false))) {
      if (performance.now() > late)
        throw new Error(`the Redis server at ${port} did not become what it should in ${LIMIT_MS} ms`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  } finally {
    redis.disconnect()
  }
}
