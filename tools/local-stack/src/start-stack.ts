import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { migrate } from '@gateway/database/migrate'
import { ensureRoles } from '@gateway/database/roles'
import type { Environment } from '@gateway/service-kit/process/config'
import type { Lifecycle } from '@gateway/service-kit/process/open-service'
import { bundleServices } from './bundle-services.ts'
import { startPostgres } from './embedded-postgres.ts'
import { startRedis } from './embedded-redis.ts'
import { writePrivateJson, type ReadyFacts } from './ready-facts.ts'
import { providersOf } from './stack-providers.ts'
import type { Screen } from './screen.ts'
import { gatewayUrl, inherited, serviceEnvironments } from './service-environment.ts'
import type { RealModel, Seeded } from '@gateway/prisma/seeded'
import { realModelsOf } from './models-asked-for.ts'
import type { StackConfig } from './stack-config.ts'
import { chooseMetricsPorts, choosePorts, measured, startError, type StackPorts } from './stack-ports.ts'
import { keepSecrets } from './stack-secrets.ts'
import { superviseProgram } from './supervise-program.ts'
import { setTimeout as wait } from 'node:timers/promises'

/** Fills an empty stack; safe to repeat. */
export type Seed = (deps: {
  /** Postgres by the login that owns the schema. */
  adminUrl: string
  ledgerUrl: string
  consoleUrl: string
  /** The console's key for the ledger, for operations that only the ledger may perform. */
  consolePrivateKey: string
  /**
   * Its result from the last run on this data folder; null the first time. Secrets can't be read back from the ledger.
   */
  before: Seeded | null
  /** Real models to add as products, each with its provider. */
  realModels: RealModel[]
  log: (line: string) => void
}) => Promise<Seeded>

interface Deps {
  config: StackConfig
  env: Environment
  screen: Screen
  lifecycle: Lifecycle
  seed: Seed
  /** The program files; a test may replace them. */
  entries?: Record<keyof StackPorts, string>
}

const startOrder = ['provider', 'ledger', 'console', 'worker', 'gateway'] as const
const titles = {
  provider: 'simulated provider',
  ledger: 'ledger',
  console: 'console',
  worker: 'worker',
  gateway: 'gateway',
}

/** Starts everything in order, registers each stop, seeds, and writes ready.json. Throws one readable error. */
export async function startStack(deps: Deps): Promise<ReadyFacts> {
  const { config, env, screen, lifecycle, seed, entries = await bundleServices() } = deps
  const folder = config.DATA_FOLDER
  const file = (name: string) => path.join(folder, name)
  mkdirSync(file('logs'), { recursive: true, mode: 0o700 })
  rmSync(file('ready.json'), { force: true })

  const ports = await choosePorts(config)
  const metricsPorts = await chooseMetricsPorts(ports)
  const secrets = keepSecrets(folder)
  const adminUrl =
    config.DATABASE_URL ?? (await screen.step('postgres', () => startOwnPostgres(deps, file('postgres'))))
  const redisUrl =
    config.REDIS_URL ?? (await screen.step('redis', () => startOwnRedis(deps, file('redis'), secrets.redis)))
  const databaseUrls = await screen.step('migrations', async () => {
    await migrate({ url: adminUrl, log: screen.note })
    return ensureRoles(adminUrl, secrets.databaseRoles)
  })

  const environments = serviceEnvironments({
    host: config.HOST,
    ports,
    metricsPorts,
    secrets,
    ledgerDatabaseUrl: databaseUrls.ledger,
    consoleDatabaseUrl: databaseUrls.console,
    redisUrl,
    assetsFolder: file('assets'),
    ...providersOf(config, ports.provider, env),
    logLevel: config.LOG_LEVEL,
    otlpEndpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
  })
  const urlOf = (name: keyof StackPorts) =>
    name === 'gateway' ? gatewayUrl(config.HOST, ports.gateway) : `http://127.0.0.1:${ports[name]}`
  for (const name of startOrder) {
    const logFile = file(`logs/${name}.log`)
    rmSync(logFile, { force: true })
    const program = {
      name: titles[name],
      entry: entries[name],
      env: { ...inherited(env), ...environments[name] },
      logFile,
      readyUrl: `${urlOf(name)}/health/ready`,
    }
    const running = await screen.step(titles[name], () =>
      superviseProgram(program, { log: screen.print }).catch(async (error: unknown) => {
        throw await startError(error, name, ports[name], config)
      }),
    )
    lifecycle.onStop(titles[name], running.stop, { limitMs: 20_000 })
  }

  const seeded = await screen.step('seed', () =>
    seed({
      adminUrl,
      ledgerUrl: urlOf('ledger'),
      consoleUrl: urlOf('console'),
      consolePrivateKey: secrets.services.console.privateKey,
      before: readSeeded(file('seeded.json'), screen.note),
      realModels: realModelsOf(config),
      log: screen.note,
    }),
  )
  writePrivateJson(file('seeded.json'), seeded)

  const ready = {
    baseUrl: urlOf('gateway'),
    consoleUrl: urlOf('console'),
    ...seeded,
    providerControl: `${urlOf('provider')}/control`,
    metrics: measured.map((program) => `http://127.0.0.1:${metricsPorts[program]}/metrics`),
  }
  writePrivateJson(file('ready.json'), ready)
  lifecycle.onStop('ready.json', () => rmSync(file('ready.json'), { force: true }))
  return ready
}

async function startOwnPostgres({ config, screen, lifecycle }: Deps, dataFolder: string): Promise<string> {
  const port = config.POSTGRES_PORT
  const postgres = await startPostgres({ dataFolder, persistent: true, ...(port && { port }) })
  lifecycle.onStop('postgres', postgres.stop, { limitMs: 25_000 })
  void keepServer('postgres', postgres, { stopping: lifecycle.stopping, log: screen.print })
  return postgres.url
}

async function startOwnRedis(
  { config, screen, lifecycle }: Deps,
  dataFolder: string,
  password: string,
): Promise<string> {
  const port = config.REDIS_PORT
  const redis = await startRedis({ dataFolder, password, log: screen.note, ...(port && { port }) })
  lifecycle.onStop('redis', redis.stop, { limitMs: 20_000 })
  void keepServer('redis', redis, { stopping: lifecycle.stopping, log: screen.print })
  return redis.url
}

/** Returns null if the file is missing or damaged: then the seed makes new secrets. */
function readSeeded(file: string, log: (line: string) => void): Seeded | null {
  if (!existsSync(file)) return null
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Seeded
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    log(`${file} is damaged: making new keys and passwords`)
    return null
  }
}

interface Server {
  readonly ended: Promise<unknown>
  restart(): Promise<void>
}

interface ServerDeps {
  stopping: AbortSignal
  log: (message: string) => void
  /** Delay between attempts, in milliseconds. */
  backOffMs?: number
}

/** Restarts an embedded server whenever it ends before shutdown. Resolves when the shutdown starts. */
export async function keepServer(
  name: string,
  server: Server,
  { stopping, log, backOffMs = 1_000 }: ServerDeps,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => stopping.addEventListener('abort', () => resolve(), { once: true }))
  while (!stopping.aborted) {
    await Promise.race([server.ended, stopped])
    if (stopping.aborted) return
    log(`${name} ended, restarting it`)
    try {
      await server.restart()
      log(`${name} is back`)
    } catch (error) {
      log(`${name} did not start: ${error instanceof Error ? error.message : String(error)}`)
      await wait(backOffMs, undefined, { signal: stopping }).catch(() => {})
    }
  }
}
