import type { RequestListener } from 'node:http'
import type { Meter, Tracer } from '@opentelemetry/api'
import type { z } from 'zod'
import type { CommonConfig } from './common-config.ts'
import type { Environment } from './config.ts'
import { createReadiness, type Readiness } from './health.ts'
import { startHttpServer, type HttpServer } from './http-server.ts'
import { createLifecycle, type Lifecycle } from './lifecycle.ts'
import type { Logger } from './logger.ts'
import { startMetricsServer } from './metrics-server.ts'
import { startTelemetry } from './telemetry.ts'

/** A service, ready to be opened in a process: `run-service.ts` gives it a process to itself. */
export interface Service<Schema extends z.ZodObject = z.ZodObject> {
  name: string
  config: Schema
  start: (config: CommonConfig & z.output<Schema>, tools: ServiceTools) => Promise<unknown>
}

/** What a service is given besides its configuration. */
export interface ServiceTools {
  /** Where variables are read that the configuration only names, such as provider keys. */
  env: Environment
  log: Logger
  /** Registers how to stop what was just started; stops run in reverse order. */
  onStop: Lifecycle['onStop']
  /** Aborts when stopping begins. */
  stopping: AbortSignal
  meter: Meter
  tracer: Tracer
  /** Whether there is a collector; without one a span is nothing. */
  traced: boolean
  readiness: Readiness
  /** Listens on HOST and PORT, and is stopped in its turn. */
  listen: (handler: RequestListener) => Promise<HttpServer>
}

export interface OpenService {
  /** Starts the service. Rejects with the reason if it can't start; `stop` then ends what had been started. */
  start(): Promise<void>
  readonly stopping: AbortSignal
  /** Stops everything in reverse order and answers whether each part stopped cleanly and in time. */
  stop(reason: string): Promise<boolean>
}

interface Surroundings {
  env: Environment
  log: Logger
  /** Called once the service listens. */
  onListening: (addresses: { listening: string; metrics: string }) => void
}

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
    })
    lifecycle.onStop('telemetry', telemetry.stop, { limitMs: 3_000 })
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
      listen: async (handler) => {
        const http = await startHttpServer(handler, { host: config.HOST, port: config.PORT, drainMs: config.DRAIN_MS })
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
