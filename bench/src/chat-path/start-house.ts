import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRedis } from '@gateway/local-stack/embedded-redis'
import { freePort } from '@gateway/local-stack/free-port'
import { serviceEnvironments } from '@gateway/local-stack/service-environment'
import { durablePostgres, type DurablePostgres } from '../house/durable-postgres.ts'
import { startProgram, type RunningProgram } from '../house/start-program.ts'
import type { Stops } from '../house/stops.ts'

export interface House {
  postgres: DurablePostgres
  origin: RunningProgram & { url: string }
  ledger: RunningProgram
  gateway: RunningProgram & { url: string }
  /** For logs and profiles; removed at the end. */
  folder: string
}

const services = path.resolve(import.meta.dirname, '../../../services')
const programs = {
  origin: fileURLToPath(import.meta.resolve('@gateway/simulated-origin/main')),
  ledger: path.join(services, 'ledger/src/main.ts'),
  gateway: path.join(services, 'gateway/src/main.ts'),
}

/**
 * Starts what a chat call goes through, each as the process and with the environment that `npm start` gives it: Postgres
 * (waiting for the disk), Redis, the simulated origin, the ledger and the gateway. `profile` names the one to be profiled.
 */
export async function startHouse(stops: Stops, profile: string | null): Promise<House> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-bench-'))
  stops.add(() => rm(folder, { recursive: true, force: true }))
  const postgres = await durablePostgres(stops)
  const redis = await startRedis({ dataFolder: path.join(folder, 'redis'), persistent: false })
  stops.add(redis.stop)

  const port = (name: string) => freePort(undefined, name)
  const ports = {
    origin: await port('origin'),
    ledger: await port('ledger'),
    gateway: await port('gateway'),
    console: await port('console'),
    worker: await port('worker'),
  }
  const secret = () => randomBytes(24).toString('hex')
  const environments = serviceEnvironments({
    host: '127.0.0.1',
    ports,
    secrets: {
      services: { gateway: secret(), worker: secret(), console: secret() },
      databaseRoles: { ledger: '', console: '' }, // they are in the addresses below
    },
    ledgerDatabaseUrl: postgres.ledgerUrl,
    consoleDatabaseUrl: postgres.consoleUrl,
    redisUrl: redis.url,
    assetsFolder: path.join(folder, 'assets'),
    origins: {
      simulated: {
        kind: 'openai-compatible',
        baseUrl: `http://127.0.0.1:${ports.origin}/v1`,
        allowPrivateAddress: true,
      },
    },
    originKeys: {},
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
    origin: await start('origin'),
    ledger: await start('ledger'),
    gateway: await start('gateway'),
    folder,
  }
}

/** Where the CPU profile of a service is written when it stops. */
export function profileFolder(folder: string, service: string): string {
  return path.join(folder, `profile-${service}`)
}
