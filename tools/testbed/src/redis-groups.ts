import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { startTied, type TiedProcess } from '@gateway/local-stack/end-with-starter'
import { freePort } from '@gateway/local-stack/stack-ports'
import { findRedis } from '@gateway/local-stack/redis-binary'
import { Redis } from 'ioredis'
import { containersWanted, startRedisMachine } from './containers.ts'
import { temporaryFolder } from './test-servers.ts'

// Groups of Redis servers on loopback, for tests that kill one of them. The servers of a group find each other by the
// addresses that they give to clients. They are therefore processes of this machine, or of one container whose ports are
// those of this machine: if TEST_CONTAINERS=1, or if the machine has Redis by Docker only.

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
        await master.kill()
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
    const bus = String(await freePort(undefined, 'Redis')) // of this node alone, so it is reached from nowhere else
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

/** Where the servers of a group run. */
interface Machine {
  /** The address that its servers bind. */
  address: string
  /** A port at which clients of this process reach a server. */
  port: () => Promise<number>
  /** A new folder for the files of one server. */
  folder: (name: string) => Promise<string>
  write: (file: string, text: string) => Promise<void>
  start: (args: string[], folder: string) => Promise<{ kill: () => Promise<void> }>
  /** Ends the servers and removes their files. */
  stop: () => Promise<void>
}

async function openGroup() {
  const machine = await openMachine()

  async function start(name: string, args: (port: number, folder: string) => Promise<string[]>) {
    const [port, folder] = await Promise.all([machine.port(), machine.folder(name)])
    const { kill } = await machine.start(await args(port, folder), folder)
    await until(port, async (redis) => (await redis.ping()) === 'PONG')
    return { port, kill }
  }

  return {
    server: (name: string, more: string[]) =>
      start(name, async (port, folder) => {
        const settings = ['--bind', machine.address, '--port', String(port), '--dir', folder]
        const empty = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction']
        return [...settings, ...empty, '--protected-mode', 'no', '--repl-diskless-sync-delay', '0', ...more]
      }),
    sentinel: (watch: string[]) =>
      start('sentinel', async (port, folder) => {
        const file = path.join(folder, 'sentinel.conf') // Sentinel rewrites it
        const settings = [`port ${port}`, `bind ${machine.address}`, 'protected-mode no', `dir ${folder}`]
        await machine.write(file, [...settings, ...watch, ''].join('\n'))
        return [file, '--sentinel']
      }),
    stop: machine.stop,
  }
}

async function openMachine(): Promise<Machine> {
  if (containersWanted()) return openContainer()
  const cacheFolder = path.resolve(import.meta.dirname, '../../../.cache/redis')
  const binary = await findRedis({ cacheFolder, log: () => {} })
  return binary.from === 'docker' ? openContainer() : openProcesses(binary.command)
}

async function openProcesses([command = '', ...words]: string[]): Promise<Machine> {
  const root = await temporaryFolder('redis-group')
  const running: TiedProcess[] = []
  return {
    address: '127.0.0.1',
    port: () => freePort(undefined, 'Redis'),
    async folder(name) {
      await mkdir(path.join(root, name))
      return path.join(root, name)
    },
    write: (file, text) => writeFile(file, text),
    async start(args, folder) {
      const server = await startTied(
        {
          command,
          args: [...words, ...args],
          cwd: '/',
          endWith: [{ signal: 'SIGTERM', graceMs: 5_000 }],
          removeIfOrphaned: root,
        },
        path.join(folder, 'log'),
      )
      running.push(server)
      return {
        async kill() {
          server.signal('SIGKILL')
          await server.ended
        },
      }
    },
    async stop() {
      await Promise.all(running.map((one) => one.stop()))
      await rm(root, { recursive: true, force: true })
    },
  }
}

const LARGEST_GROUP = 3

async function openContainer(): Promise<Machine> {
  const ports = await Promise.all(Array.from({ length: LARGEST_GROUP }, () => freePort(undefined, 'Redis')))
  const container = await startRedisMachine(ports)
  return {
    address: '0.0.0.0',
    async port() {
      const port = ports.shift()
      if (port === undefined) throw new Error(`A group has at most ${LARGEST_GROUP} servers.`)
      return port
    },
    async folder(name) {
      await container.run(['mkdir', `/tmp/${name}`])
      return `/tmp/${name}`
    },
    write: container.write,
    async start(args, folder) {
      const pidFile = `${folder}/pid`
      const detached = ['--daemonize', 'yes', '--pidfile', pidFile, '--logfile', `${folder}/log`]
      await container.run(['redis-server', ...args, ...detached])
      return { kill: () => container.run(['sh', '-c', `kill -9 $(cat ${pidFile})`]) }
    },
    stop: container.stop,
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
