import type { RequestListener } from 'node:http'
import type { Meter, Tracer } from '@opentelemetry/api'
import type { z } from 'zod'
import type { CommonConfig, Environment } from './config.ts'
import type { ConnectionSettings, EndReason } from '../http/connections.ts'
import { type HttpServer, startHttpServer, startMetricsServer } from './http-server.ts'
import type { Logger } from './logger.ts'
import { startTelemetry } from './telemetry.ts'
import { withTimeout, TimedOut } from '../async/waiting.ts'

/** A service that can be opened in any process: `run-service.ts` gives it a separate one. */
export interface Service<Schema extends z.ZodObject = z.ZodObject> {
  name: string
  config: Schema
  /** Whether it is called from outside, so that no flag of a caller decides what is traced. */
  isEdge?: boolean
  start: (config: CommonConfig & z.output<Schema>, tools: ServiceTools) => Promise<unknown>
}

/** What a service gets in addition to its configuration. */
export interface ServiceTools {
  /** Source of variables that the configuration only names, such as provider keys. */
  env: Environment
  log: Logger
  /** Registers the stop of a part just started; stops run in reverse order. */
  onStop: Lifecycle['onStop']
  /** Aborts when shutdown starts. */
  stopping: AbortSignal
  meter: Meter
  tracer: Tracer
  /** Whether there is a collector; without one spans are no-ops. */
  traced: boolean
  readiness: Readiness
  /** Listens on HOST and PORT, and stops in order with the other parts. */
  listen: (handler: RequestListener, connections?: ConnectionSettings) => Promise<HttpServer>
}

export interface OpenService {
  /** Starts the service. Rejects with the reason if it can't; `stop` then ends the parts already started. */
  start(): Promise<void>
  readonly stopping: AbortSignal
  /** Stops everything in reverse order and returns whether each part stopped cleanly and in time. */
  stop(reason: string): Promise<boolean>
}

interface Surroundings {
  env: Environment
  log: Logger
  /** Called once the service listens. */
  onListening: (addresses: { listening: string; metrics: string }) => void
}

/** How long a stop waits for the collector to take the last spans and metrics. */
const LAST_TELEMETRY_MS = 1_000

/** Prepares a service without touching the process: no signal handlers, no exit, no standard output. */
export function openService<Schema extends z.ZodObject>(
  service: Service<Schema>,
  config: CommonConfig & z.output<Schema>,
  { env, log, onListening }: Surroundings,
): OpenService {
  const lifecycle = createLifecycle({ log })
  const readiness = createReadiness()

  async function start(): Promise<void> {
    const telemetry = await startTelemetry({
      service: service.name,
      otlpEndpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
      edgeEnv: service.isEdge ? env : null,
      log,
    })
    lifecycle.onStop('telemetry', async () => {
      try {
        await withTimeout(LAST_TELEMETRY_MS, telemetry.stop)
      } catch (error) {
        log.warn({ err: error }, 'telemetry was not sent') // a collector that is away fails no stop
      }
    })
    const metrics = await startMetricsServer(telemetry.metricsText, config)
    lifecycle.onStop('metrics server', metrics.stop, { limitMs: 3_000 })
    await service.start(config, {
      env,
      log,
      onStop: lifecycle.onStop,
      stopping: lifecycle.stopping,
      meter: telemetry.meter,
      tracer: telemetry.tracer,
      traced: telemetry.traced,
      readiness,
      listen: async (handler, settings) => {
        const connections = { ...settings, onEnd: connectionCounter(telemetry.meter, service.name) }
        const address = { host: config.HOST, port: config.PORT, drainMs: config.DRAIN_MS }
        const tls = { certificate: config.TLS_CERTIFICATE, privateKey: config.TLS_PRIVATE_KEY }
        const http = await startHttpServer(handler, { ...address, connections, tls })
        lifecycle.onStop('http server', http.stop, { limitMs: config.DRAIN_MS + 1_000 })
        log.info({ url: http.url, metrics: metrics.url }, 'listening')
        onListening({ listening: http.url, metrics: metrics.url })
        return http
      },
    })
    readiness.started()
  }

  return {
    start,
    stopping: lifecycle.stopping,
    async stop(reason) {
      readiness.stopping()
      const clean = await lifecycle.stop(reason)
      log.info({ clean }, 'stopped')
      return clean
    },
  }
}

/** Returns what counts the connections that a service has ended. */
export function connectionCounter(meter: Meter, service: string): (reason: EndReason) => void {
  const ended = meter.createCounter(`${service}.connections.ended`, {
    description: 'Connections ended before their request was read, by reason',
    unit: '{connection}',
  })
  return (reason) => ended.add(1, { reason })
}

// A service starts in order and stops in reverse order.
//   L1  The part started last stops first, one at a time.
//   L2  A stop that hangs or fails delays the others for at most its limit.
//   L3  Stopping happens once; a part registered later is stopped unused.

/** Its result is ignored; a promise is awaited. */
export type Stop = () => unknown

export interface Lifecycle {
  /** Registers the stop of a part just started. `limitMs` is the longest that the others wait for it. */
  onStop(name: string, stop: Stop, limits?: { limitMs?: number }): void
  /** Aborts when shutdown starts. */
  readonly stopping: AbortSignal
  /** Stops everything and returns whether each part stopped cleanly and in time. Later calls return the same promise. */
  stop(reason: string): Promise<boolean>
}

interface Deps {
  log: Pick<Logger, 'info' | 'error'>
  /** For parts without a limit. */
  defaultLimitMs?: number
}

interface Part {
  name: string
  stop: Stop
  limitMs: number
}

export function createLifecycle({ log, defaultLimitMs = 10_000 }: Deps): Lifecycle {
  const started: Part[] = []
  const aborter = new AbortController()
  let stopped: Promise<boolean> | undefined
  let finished = false

  async function stopOne({ name, stop, limitMs }: Part): Promise<boolean> {
    try {
      await withTimeout<unknown>(limitMs, stop)
      return true
    } catch (error) {
      log.error({ err: error, part: name }, `${name} did not stop cleanly`)
      return false // L2
    }
  }

  async function stopStarted(): Promise<boolean> {
    let clean = true
    finished = false
    for (let part = started.pop(); part; part = started.pop()) clean = (await stopOne(part)) && clean // L1, L3
    finished = true
    return clean
  }

  return {
    onStop(name, stop, { limitMs = defaultLimitMs } = {}) {
      started.push({ name, stop, limitMs })
      if (finished) stopped = stopStarted() // L3
    },
    stopping: aborter.signal,
    stop(reason) {
      if (!aborter.signal.aborted) {
        log.info({ reason }, 'stopping')
        aborter.abort(new Error(`stopping: ${reason}`))
      }
      return (stopped ??= stopStarted())
    },
  }
}

interface HealthAnswer {
  status: 200 | 503
  body: { status: string; reasons?: Record<string, string> }
}

/** Returns null if all is well, otherwise a short reason without addresses or secrets. */
export type HealthCheck = () => Promise<string | null> | string | null

export interface Readiness {
  /** Adds a named check to readiness. */
  check(name: string, check: HealthCheck): void
  /** Adds a named check to liveness. It may fail only for problems that a restart fixes. */
  checkLive(name: string, check: HealthCheck): void
  /** Call after startup: from then on the checks decide. */
  started(): void
  /** Call before shutdown: readiness is false from then on, so that no new requests arrive. */
  stopping(): void
  /**
   * GET /health/live: the process works at all. Failures elsewhere never restart it. Work that stalls for longer than
   * every time limit allows does, because it would never resume.
   */
  live(): Promise<HealthAnswer>
  /** GET /health/ready: the process can do its work now. */
  ready(): Promise<HealthAnswer>
}

/** `checkLimitMs` is the time after which a check counts as failed. */
export function createReadiness({ checkLimitMs = 1_000 }: { checkLimitMs?: number } = {}): Readiness {
  const checks = new Map<string, HealthCheck>()
  const liveChecks = new Map<string, HealthCheck>()
  let phase: 'starting' | 'started' | 'stopping' = 'starting'

  return {
    check: (name, check) => void checks.set(name, check),
    checkLive: (name, check) => void liveChecks.set(name, check),
    started: () => void (phase = phase === 'stopping' ? phase : 'started'),
    stopping: () => void (phase = 'stopping'),
    live: () => answer('live', liveChecks, checkLimitMs),
    async ready() {
      if (phase !== 'started') return { status: 503, body: { status: phase } }
      return answer('ready', checks, checkLimitMs)
    },
  }
}

async function answer(status: string, checks: Map<string, HealthCheck>, limitMs: number): Promise<HealthAnswer> {
  const asked = [...checks].map(async ([name, check]) => [name, await ask(check, limitMs)] as const)
  const failing = (await Promise.all(asked)).filter((one): one is [string, string] => one[1] !== null)
  if (failing.length === 0) return { status: 200, body: { status } }
  return { status: 503, body: { status: `not ${status}`, reasons: Object.fromEntries(failing) } }
}

async function ask(check: HealthCheck, limitMs: number): Promise<string | null> {
  try {
    return await withTimeout(limitMs, check)
  } catch (error) {
    return error instanceof TimedOut ? `no answer within ${limitMs} ms` : 'failed'
  }
}
