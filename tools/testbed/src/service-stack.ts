import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { bundleServices } from '@gateway/local-stack/bundle-services'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { startSimulatedProvider } from '@gateway/simulated-provider/start-provider'
import { startInProcess, type ServiceName } from './service-in-process.ts'
import { startProgram, type RunningService, type TestProgram } from './test-program.ts'
import { temporaryFolder } from './test-servers.ts'

// The services on loopback, with ports chosen by the kernel, in front of a simulated provider.

export interface ServiceStackOptions {
  /** Logins of the services on a migrated database. */
  ledgerUrl: string
  consoleUrl?: string
  redisUrl: string
  /** Number of each. Gateway n uses ledger n, round-robin. */
  ledgers?: number
  gateways?: number
  workers?: number
  /** Used if there is a `consoleUrl`. Default 1. */
  consoles?: number
  /** Returns the address at which gateways and workers reach their ledger, such as that of a fault proxy. */
  through?: (ledgerUrl: string, n: number) => Promise<string>
  /** Returns the address at which gateways reach the consoles. Default: the first one. */
  consolesAt?: (consoleUrls: string[]) => Promise<string>
  /** Additional settings of the provider. */
  providerSettings?: object
  /** Additional variables for the nth service of a kind. */
  environment?: Partial<Record<ServiceName, (n: number) => Record<string, string>>>
  /** Services of `openServices` that run as separate processes, for tests that kill or pause them. */
  processes?: readonly ProgramName[]
  /** Files of the programs, for services in separate processes. Default: bundles of the sources. */
  entries?: Record<ServiceName, string>
}

/** Name of a service of a stack, such as `gateway-2`. */
type ProgramName = `${ServiceName}-${number}`

interface Program {
  name: ProgramName
  service: ServiceName
  folder: string
  env: Record<string, string>
}

/** Services in this process, or some of them: for tests of their behavior. */
export type OpenServices = Awaited<ReturnType<typeof openServices>>
/** Each service in a separate process: for tests that kill, pause or restart one, or use a third-party client. */
export type ServiceStack = Awaited<ReturnType<typeof startServices>>

const secret = () => randomBytes(24).toString('hex')

/** Opens the services in this process, except those of `processes`, which `processOf` returns. */
export const openServices = (options: ServiceStackOptions) =>
  launchServices<RunningService>(options, (program) =>
    options.processes?.includes(program.name) ? startProcess(program, options) : startInProcess(program),
  )

/** Starts each service as a process, which ends with this one, even if this one is killed. */
export const startServices = (options: ServiceStackOptions) =>
  launchServices<TestProgram>(options, (program) => startProcess(program, options))

const startProcess = async ({ service, ...program }: Program, { entries }: ServiceStackOptions) =>
  startProgram({ ...program, entry: (entries ?? (await bundleServices()))[service] })

async function launchServices<Running extends RunningService>(
  options: ServiceStackOptions,
  launch: (program: Program) => Promise<Running>,
) {
  const {
    ledgers = 1,
    gateways = 1,
    workers = 0,
    consoles = 1,
    consolesAt = ([first]) => Promise.resolve(first!),
    through = (url: string) => Promise.resolve(url),
    providerSettings = {},
    environment = {},
  } = options
  const folder = await temporaryFolder('services')
  const keys = { gateway: newServiceKeys(), worker: newServiceKeys(), console: newServiceKeys() }
  const [providerKey, webhookKey, secondFactorKey, captureKey] = [secret(), secret(), secret(), secret()]
  const provider = await startSimulatedProvider()
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true }), provider.stop]
  const stop = async () => {
    for (const each of stops.splice(0).toReversed()) await each()
  }

  async function start(service: ServiceName, n: number, env: Record<string, string>): Promise<Running> {
    const program = await launch({
      name: `${service}-${n}`,
      service,
      folder,
      env: { LOG_LEVEL: 'info', ...env, ...environment[service]?.(n) },
    })
    stops.push(program.stop)
    return program
  }

  try {
    const ledgerPrograms = await times(ledgers, (n) =>
      start('ledger', n, {
        DATABASE_URL: options.ledgerUrl,
        REDIS_URL: options.redisUrl,
        SERVICE_PUBLIC_KEYS_GATEWAY: keys.gateway.publicKey,
        SERVICE_PUBLIC_KEYS_WORKER: keys.worker.publicKey,
        SERVICE_PUBLIC_KEYS_CONSOLE: keys.console.publicKey,
        WEBHOOK_KEY: webhookKey,
        WEBHOOK_PRIVATE_ADDRESSES: 'true',
      }),
    )
    const ledgerUrls = await times(Math.max(gateways, workers, ledgers), (n) =>
      through(ledgerPrograms[n % ledgers]!.url, n),
    )
    const PROVIDERS = JSON.stringify({
      simulated: {
        kind: 'openai-compatible',
        baseUrl: `${provider.url}/v1`,
        allowPrivateAddress: true,
        apiKeyEnv: 'SIMULATED_PROVIDER_KEY',
        // A retry would hide the fault that a test requests, and a circuit would carry it into the next test.
        tries: 1,
        circuitFailures: 1_000_000,
        ...providerSettings,
      },
    })
    const ASSETS_FOLDER = path.join(folder, 'assets')
    const providers = { PROVIDERS, SIMULATED_PROVIDER_KEY: providerKey, ASSETS_FOLDER }
    const { consoleUrl: consoleDatabase } = options
    const consolePrograms = await times(consoleDatabase ? consoles : 0, (n) =>
      start('console', n, {
        DATABASE_URL: consoleDatabase!,
        LEDGER_URL: ledgerUrls[n % ledgerUrls.length]!,
        SERVICE_PRIVATE_KEY: keys.console.privateKey,
        SECOND_FACTOR_KEY: secondFactorKey,
        CAPTURE_KEY: captureKey,
        TRUSTED_PROXIES: 'loopback', // the gateway
        ASSETS_FOLDER,
      }),
    )
    const CONSOLE_URL = consoleDatabase ? await consolesAt(consolePrograms.map(({ url }) => url)) : 'http://127.0.0.1:9'
    const gatewayPrograms = await times(gateways, (n) =>
      start('gateway', n, {
        LEDGER_URL: ledgerUrls[n]!,
        SERVICE_PRIVATE_KEY: keys.gateway.privateKey,
        REDIS_URL: options.redisUrl,
        CONSOLE_URL,
        ...providers,
      }),
    )
    const workerPrograms = await times(workers, (n) =>
      start('worker', n, {
        LEDGER_URL: ledgerUrls[n]!,
        SERVICE_PRIVATE_KEY: keys.worker.privateKey,
        REDIS_URL: options.redisUrl,
        ...providers,
      }),
    )
    return {
      provider,
      ledgers: ledgerPrograms,
      gateways: gatewayPrograms,
      workers: workerPrograms,
      console: consolePrograms[0] ?? null,
      consoles: consolePrograms,
      /** Private keys of the services. */
      secrets: {
        gateway: keys.gateway.privateKey,
        worker: keys.worker.privateKey,
        console: keys.console.privateKey,
      },
      gatewayPublicKey: keys.gateway.publicKey,
      providerKey,
      folder,
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts all of them concurrently. Waits for the others if one fails, so that the caller can stop all that started. */
async function times<T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> {
  const begun = Array.from({ length: count }, (_, n) => make(n))
  await Promise.allSettled(begun)
  return Promise.all(begun)
}
