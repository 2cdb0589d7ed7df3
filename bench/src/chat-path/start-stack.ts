import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, chooseMetricsPorts } from '@gateway/local-stack/stack-ports'
import { serviceEnvironments } from '@gateway/local-stack/service-environment'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { startBenchServers } from '../stack/bench-servers.ts'
import type { DurablePostgres } from '../stack/durable-postgres.ts'
import { startProgram, type RunningProgram } from '../stack/start-program.ts'
import type { Stops } from '../stack/stops.ts'

export interface Stack {
  postgres: DurablePostgres
  provider: RunningProgram & { url: string }
  ledger: RunningProgram
  gateway: RunningProgram & { url: string }
  /** For logs and profiles; removed at the end. */
  folder: string
}

const services = path.resolve(import.meta.dirname, '../../../services')
const programs = {
  provider: fileURLToPath(import.meta.resolve('@gateway/simulated-provider/main')),
  ledger: path.join(services, 'ledger/src/main.ts'),
  gateway: path.join(services, 'gateway/src/main.ts'),
}

/**
 * Starts the services on the path of a chat call, each with the process and environment of `npm start`: Postgres
 * (waiting for the disk), Redis, the simulated provider, the ledger and the gateway. `profile` names the service to
 * profile.
 */
export async function startStack(stops: Stops, profile: string | null): Promise<Stack> {
  const { folder, postgres, redis } = await startBenchServers(stops)

  const port = (name: string) => freePort(undefined, name)
  const ports = {
    provider: await port('provider'),
    ledger: await port('ledger'),
    gateway: await port('gateway'),
    console: await port('console'),
    worker: await port('worker'),
  }
  const secret = () => randomBytes(24).toString('hex')
  const environments = serviceEnvironments({
    host: '127.0.0.1',
    ports,
    metricsPorts: await chooseMetricsPorts(ports),
    secrets: {
      services: { gateway: newServiceKeys(), worker: newServiceKeys(), console: newServiceKeys() },
      databaseRoles: { ledger: '', console: '' }, // part of the addresses below
      redis: '', // needs none
      webhooks: secret(),
      secondFactors: secret(),
      capture: secret(),
    },
    ledgerDatabaseUrl: postgres.ledgerUrl,
    consoleDatabaseUrl: postgres.consoleUrl,
    redisUrl: redis.url,
    assetsFolder: path.join(folder, 'assets'),
    providers: {
      simulated: {
        kind: 'openai-compatible',
        baseUrl: `http://127.0.0.1:${ports.provider}/v1`,
        allowPrivateAddress: true,
      },
    },
    providerKeys: {},
    logLevel: 'info',
    otlpEndpoint: undefined,
  })

  async function start(name: keyof typeof programs): Promise<RunningProgram & { url: string }> {
    const url = `http://127.0.0.1:${ports[name]}`
    const profiling = ['--cpu-prof', `--cpu-prof-dir=${profileFolder(folder, name)}`]
    await mkdir(profileFolder(folder, name), { recursive: true })
    const program = await startProgram({
      name,
      entry: programs[name],
      env: environments[name],
      nodeArgs: profile === name ? profiling : [],
      logFolder: folder,
      readyUrl: `${url}/health/ready`,
    })
    stops.add(program.stop)
    return { ...program, url }
  }
  return {
    postgres,
    provider: await start('provider'),
    ledger: await start('ledger'),
    gateway: await start('gateway'),
    folder,
  }
}

/** Folder for the CPU profile that a service writes when it stops. */
export function profileFolder(folder: string, service: string): string {
  return path.join(folder, `profile-${service}`)
}
