import { setTimeout as wait } from 'node:timers/promises'
import { postgresSettings } from '@gateway/local-stack/embedded-postgres'
import { redisSettings } from '@gateway/local-stack/embedded-redis'
import { freePort } from '@gateway/local-stack/stack-ports'
import { Redis } from 'ioredis'
import { ask } from './ask.ts'

// testcontainers is loaded only on use: it is large, and most runs use the embedded servers. Its Ryuk
// container removes what a killed process leaves behind.

/** A running server, and how to stop it. */
export interface RunningServer {
  readonly url: string
  /** Stops the server and removes its data. */
  stop: () => Promise<void>
}

/** A server that a test may stop, kill and pause. */
export interface PrivateServer extends RunningServer {
  /** Ends the server with SIGKILL. */
  kill: () => Promise<void>
  /** Stops the server as in a crash: Postgres without a checkpoint, Redis with SIGKILL. */
  stopImmediately: () => Promise<void>
  /** Stops the server if running, and starts it on the same port and data. */
  restart: () => Promise<void>
  /** Pauses all processes of the server for this long. */
  pause: (ms: number) => Promise<void>
  /** What the server has logged. */
  log: () => Promise<string>
}

const images = { postgres: 'postgres:18-alpine', redis: 'redis:8.2-alpine' }
const RESTART_LIMIT_MS = 60_000
const RESTART_GRACE_S = 15
const SHARED_MEMORY_BYTES = 256 * 1024 * 1024 // Docker's default of 64 MB is too little for parallel queries

/** Whether every test server runs in a container, by TEST_CONTAINERS=1. */
export function containersWanted(env: NodeJS.ProcessEnv = process.env): boolean {
  return env['TEST_CONTAINERS'] === '1'
}

/** The reason why no container can be started, or null if an engine responds and has the images or can fetch them. */
export async function containerProblem(): Promise<string | null> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers')
  const engine = await getContainerRuntimeClient().catch(() => null)
  if (!engine) return 'no Docker engine responds'
  for (const image of Object.values(images)) {
    const name = ImageName.fromString(image)
    const failure = await engine.image.pull(name).catch((error: Error) => error)
    // A pull that fails midway does not reject.
    if (failure || !(await engine.image.exists(name)))
      return `Docker can't fetch ${image}${failure ? `: ${failure.message.trim()}` : ''}`
  }
  return null
}

/** The reason and the remedy if TEST_CONTAINERS=1 can't be obeyed, or null if it can. */
export async function containerRefusal(): Promise<string | null> {
  const problem = await containerProblem()
  if (problem === null) return null
  const cure = `Start a Docker engine that can fetch ${Object.values(images).join(' and ')}`
  return `TEST_CONTAINERS=1 runs the tests on containers, but ${problem}. ${cure}, or unset TEST_CONTAINERS to use embedded servers.`
}

/** Starts Postgres 18 in a container, with the settings of the embedded one. */
export function startPostgresContainer(): Promise<PrivateServer> {
  return startServer({
    image: images.postgres,
    port: 5432,
    environment: {
      POSTGRES_PASSWORD: 'in-tests',
      POSTGRES_DB: 'svc',
      POSTGRES_INITDB_ARGS: '--encoding=UTF8 --locale=C',
    },
    command: [
      'postgres',
      ...Object.entries(postgresSettings(true)).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    // The image starts it twice: first to create the database, then to stay.
    ready: { log: /database system is ready to accept connections/, times: 2 },
    url: (address) => `postgresql://postgres:in-tests@${address}/svc`,
    ping: (url) => ask(url, 'SELECT 1'),
    immediately: 'SIGQUIT',
  })
}

/** Starts Redis in a container, with the settings of the embedded one. */
export function startRedisContainer({ databases }: { databases: number }): Promise<PrivateServer> {
  return startServer({
    image: images.redis,
    port: 6379,
    environment: {},
    command: [
      'redis-server',
      ...Object.entries(redisSettings(databases)).flatMap(([name, value]) => [`--${name}`, value]),
    ],
    ready: { log: /Ready to accept connections/, times: 1 },
    url: (address) => `redis://${address}`,
    ping,
    immediately: 'SIGKILL',
  })
}

interface Server {
  image: string
  port: number
  environment: Record<string, string>
  command: string[]
  ready: { log: RegExp; times: number }
  url: (address: string) => string
  /** Rejects until the server responds. */
  ping: (url: string) => Promise<unknown>
  immediately: NodeJS.Signals
}

async function startServer(server: Server): Promise<PrivateServer> {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await import('testcontainers')
  // Chosen here, because the engine would choose another one for each restart.
  const port = await freePort(undefined, server.image)
  const started = await new GenericContainer(server.image)
    .withEnvironment(server.environment)
    .withCommand(server.command)
    .withSharedMemorySize(SHARED_MEMORY_BYTES)
    .withExposedPorts({ container: server.port, host: port })
    .withWaitStrategy(Wait.forLogMessage(server.ready.log, server.ready.times))
    .start()
  const { container: containers } = await getContainerRuntimeClient()
  const container = containers.getById(started.getId())
  const url = server.url(`${loopback(started.getHost())}:${port}`)
  const kill = async (signal: NodeJS.Signals) => {
    await container.kill({ signal })
    await container.wait()
  }
  return {
    url,
    stop: async () => void (await started.stop()),
    kill: () => kill('SIGKILL'),
    stopImmediately: () => kill(server.immediately),
    restart: async () => {
      await container.restart({ t: RESTART_GRACE_S })
      await untilItResponds(() => server.ping(url))
    },
    pause: async (ms) => {
      await container.pause()
      await wait(ms)
      await container.unpause()
    },
    log: async () => textOf(await container.logs({ stdout: true, stderr: true })),
  }
}

/** A container of Redis in which a test starts and kills servers itself. */
export interface RedisMachine {
  /** Runs a program of the container to its end. Throws with its output if it fails. */
  run: (command: string[]) => Promise<void>
  write: (file: string, content: string) => Promise<void>
  stop: () => Promise<void>
}

/** Starts a container of Redis without a server, whose ports are those of this machine. */
export async function startRedisMachine(ports: number[]): Promise<RedisMachine> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(images.redis)
    .withEntrypoint(['sh', '-c'])
    .withCommand(['echo up; exec sleep infinity'])
    .withExposedPorts(...ports.map((port) => ({ container: port, host: port })))
    .withWaitStrategy(Wait.forLogMessage(/^up/))
    .start()
  return {
    run: async (command) => {
      const { exitCode, output } = await container.exec(command)
      if (exitCode !== 0) throw new Error(`${command.join(' ')} failed.\n${output}`)
    },
    write: (target, content) => container.copyContentToContainer([{ content, target }]),
    stop: async () => void (await container.stop()),
  }
}

/** Prefers IPv4: an engine may publish ports on 127.0.0.1 only. */
function loopback(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host
}

async function ping(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  redis.on('error', () => {})
  try {
    await redis.connect()
    await redis.ping()
  } finally {
    redis.disconnect()
  }
}

async function untilItResponds(ping: () => Promise<unknown>): Promise<void> {
  for (const start = performance.now(); ; await wait(20)) {
    try {
      await ping()
      return
    } catch (error) {
      if (performance.now() - start > RESTART_LIMIT_MS) throw error
    }
  }
}

/** The text of a log as the engine sends it: frames of standard output and standard error. */
function textOf(log: Buffer): string {
  const parts: Buffer[] = []
  for (let at = 0; at < log.length;) {
    const end = at + 8 + log.readUInt32BE(at + 4)
    parts.push(log.subarray(at + 8, end))
    at = end
  }
  return Buffer.concat(parts).toString()
}
