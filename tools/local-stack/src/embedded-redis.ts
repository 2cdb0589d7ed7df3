import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { awaitReady } from './ready-facts.ts'
import { startTied, type TiedProcess, type TiedProgram } from './end-with-starter.ts'
import { freePort } from './stack-ports.ts'
import { lastLines } from './supervise-program.ts'
import { findRedis, REDIS_IMAGE, type RedisBinary } from './redis-binary.ts'

/** What must not be on a command line, which every user of the machine can read. */
const SETTINGS = 'redis.conf'
const startLimitMs = 20_000
const containerStartLimitMs = 60_000

export interface RedisOptions {
  /** Created if missing. Contains the append-only file and the log. */
  dataFolder: string
  /** Loopback port; chosen by default. */
  port?: number
  /** If false, the folder is removed by `stop`, or when the starter is gone. Default true. */
  persistent?: boolean
  /** Required of every client; kept in a file that only this user can read. Default: none is required. */
  password?: string
  /** Number of logical databases. Default 16. */
  databases?: number
  /** Where a downloaded server is cached. Default: `.cache/redis` of this project. */
  cacheFolder?: string
  /** Called with a line for each slow step. */
  log?: (line: string) => void
}

export interface EmbeddedRedis {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Resolves when the current server has ended for any reason. */
  readonly ended: Promise<unknown>
  stop: () => Promise<void>
  /** Stops as in a crash (SIGKILL): writes not yet in the append-only file are lost. */
  stopImmediately: () => Promise<void>
  /** Stops it if running, and starts it on the same port and data. */
  restart: () => Promise<void>
}

/**
 * Starts a Redis server on 127.0.0.1 with `noeviction` and an append-only file, as BullMQ requires, and resolves when
 * it responds. It ends with this process, even if this process is killed. Throws one message with the remedies if no
 * server can be found.
 */
export async function startRedis(options: RedisOptions): Promise<EmbeddedRedis> {
  const folder = path.resolve(options.dataFolder)
  const cacheFolder = options.cacheFolder ?? path.resolve(import.meta.dirname, '../../../.cache/redis')
  const log = options.log ?? (() => {})
  const binary = await findRedis({ cacheFolder, log })
  if (binary.from === 'docker') log(`Redis: starting ${REDIS_IMAGE} by Docker`)
  await mkdir(folder, { recursive: true })
  const lines = options.password ? [`requirepass ${options.password}`] : []
  await rm(path.join(folder, SETTINGS), { force: true })
  await writeFile(path.join(folder, SETTINGS), lines.join('\n'), { mode: 0o600 })

  let { server, port, container } = await startOnPort(binary, folder, options, options.port)
  return {
    get url() {
      return `redis://${options.password ? `:${encodeURIComponent(options.password)}@` : ''}127.0.0.1:${port}`
    },
    get port() {
      return port
    },
    get pid() {
      return server.pid
    },
    get ended() {
      return server.ended
    },
    stop: async () => {
      await server.stop()
      if (options.persistent === false) await rm(folder, { recursive: true, force: true })
    },
    stopImmediately: async () => {
      if (container === null) server.signal('SIGKILL')
      else await promisify(execFile)('docker', ['kill', container]) // a killed client leaves its container running
      await server.ended
    },
    restart: async () => {
      await server.stop()
      ;({ server, port, container } = await startOnPort(binary, folder, options, port))
    },
  }
}

async function startOnPort(
  binary: RedisBinary,
  folder: string,
  { persistent = true, databases = 16, password }: RedisOptions,
  wanted: number | undefined,
): Promise<{ server: TiedProcess; port: number; container: string | null }> {
  const deadline = Date.now() + (binary.from === 'docker' ? containerStartLimitMs : startLimitMs)
  const logFile = path.join(folder, 'redis.log')
  for (;;) {
    const port = await freePort(wanted, 'Redis')
    const container = binary.from === 'docker' ? `svc-redis-${randomBytes(4).toString('hex')}` : null
    const server = await startTied(program(binary, { folder, port, persistent, databases, container }), logFile)
    const outcome = await awaitReady(server, () => answersPing(port, password), deadline)
    if (outcome === 'ready') return { server, port, container }
    await server.stop()
    const log = lastLines(logFile, 12)
    if (wanted !== undefined || outcome === 'late' || !/Address already in use/.test(log)) {
      throw new Error(`Redis did not start in ${folder}.
${log}`)
    }
  }
}

interface Server {
  folder: string
  port: number
  persistent: boolean
  databases: number
  /** The name of its container, or null if it runs without one. */
  container: string | null
}

function program({ command }: RedisBinary, { folder, port, persistent, databases, container }: Server): TiedProgram {
  const flags = Object.entries(redisSettings(databases)).flatMap(([name, value]) => [`--${name}`, value])
  const place = [path.join(folder, SETTINGS), '--bind', '127.0.0.1', '--port', String(port), '--dir', folder]
  const [first = '', ...words] = command
  return {
    command: first,
    args: [...words, ...(container === null ? [...place, ...flags] : dockerArguments(container, folder, port, flags))],
    cwd: '/',
    endWith: [{ signal: 'SIGTERM', graceMs: 15_000 }],
    ...(persistent ? {} : { removeIfOrphaned: folder }),
  }
}

/** The settings that don't depend on where the server listens. */
export function redisSettings(databases: number): Record<string, string> {
  return {
    appendonly: 'yes',
    save: '',
    'maxmemory-policy': 'noeviction',
    databases: String(databases),
    daemonize: 'no',
  }
}

/** In the foreground, so that signals that end the client also end the container. */
function dockerArguments(name: string, folder: string, port: number, flags: string[]): string[] {
  const user = process.getuid ? ['--user', `${process.getuid()}:${process.getgid?.()}`] : []
  const place = ['--publish', `127.0.0.1:${port}:6379`, '--volume', `${folder}:/data`]
  return [
    'run',
    '--rm',
    '--init',
    '--name',
    name,
    ...user,
    ...place,
    REDIS_IMAGE,
    'redis-server',
    `/data/${SETTINGS}`,
    ...flags,
  ]
}

/** While loading its data, Redis responds with an error instead of PONG. */
async function answersPing(port: number, password: string | undefined): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.setTimeout(1_000, () => socket.destroy(new Error('late')))
    socket.write(`${password ? `AUTH ${password}\r\n` : ''}PING\r\n`)
    for await (const answer of socket) {
      if (String(answer).includes('+PONG')) return true
      if (/^-/m.test(String(answer))) return false
    }
    return false
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
