import type { RequestListener } from 'node:http'
import type { Meter, Tracer } from '@opentelemetry/api'
import type { z } from 'zod'
import { readServiceConfig, type CommonConfig } from './common-config.ts'
import { ConfigurationError, type Environment } from './config.ts'
import { createReadiness, type Readiness } from './health.ts'
import { startHttpServer, type HttpServer } from './http-server.ts'
import { createLifecycle, type Lifecycle } from './lifecycle.ts'
import { createLogger, type Logger } from './logger.ts'
import { startMetricsServer } from './metrics-server.ts'
import { onStopSignals } from './stop-signals.ts'
import { startTelemetry } from './telemetry.ts'

/** What a service is given besides its configuration. */
export interface ServiceTools {
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

export type StartService<Schema extends z.ZodObject> = (
  config: CommonConfig & z.output<Schema>,
  tools: ServiceTools,
) => Promise<unknown>

/** sysexits.h EX_CONFIG: starting again doesn't help until somebody changes the configuration. */
export const wrongConfigurationExit = 78

/**
 * The whole life of a service's process: configuration, logger, telemetry, `start`, and the stop in reverse order on
 * SIGTERM, SIGINT or the end of its parent. Exit codes: 0 stopped cleanly, 1 failed, 78 wrong configuration.
 */
export async function runService<Schema extends z.ZodObject>(
  service: string,
  schema: Schema,
  start: StartService<Schema>,
): Promise<void> {
  const config = readOrExit(service, schema, process.env)
  const log = createLogger({ service, level: config.LOG_LEVEL })
  const lifecycle = createLifecycle({ log })
  const readiness = createReadiness()

  function fail(error: unknown, message: string): never {
    log.fatal({ err: error }, message)
    process.exit(1)
  }
  process.on('uncaughtException', (error) => fail(error, 'uncaught exception'))
  process.on('unhandledRejection', (error) => fail(error, 'unhandled rejection'))
  process.removeAllListeners('warning') // Node's own listener writes what is no line of the log
  process.on('warning', (warning) => log.warn({ err: warning }, 'a warning of Node'))

  async function stop(reason: string): Promise<void> {
    readiness.stopping()
    const clean = await lifecycle.stop(reason)
    log.info({ clean }, 'stopped')
    process.exit(clean ? 0 : 1)
  }
  onStopSignals({
    source: process,
    env: process.env,
    stop: (reason) => void stop(reason),
    force: (reason) => fail(new Error(reason), 'stopped without waiting'),
    now: () => performance.now(),
  })

  try {
    const telemetry = await startTelemetry({ service, otlpEndpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT })
    lifecycle.onStop('telemetry', telemetry.stop, { limitMs: 3_000 })
    const metrics = await startMetricsServer(telemetry.metricsText, config)
    lifecycle.onStop('metrics server', metrics.stop, { limitMs: 3_000 })
    await start(config, {
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
        if (process.connected) process.send?.({ listening: http.url, metrics: metrics.url })
        return http
      },
    })
    readiness.started()
  } catch (error) {
    if (lifecycle.stopping.aborted) return // what fails because it was stopped half-way isn't news
    log.fatal({ err: error }, 'could not start')
    if (error instanceof ConfigurationError) tellOperator(service, error)
    await lifecycle.stop('could not start')
    process.exit(error instanceof ConfigurationError ? wrongConfigurationExit : 1)
  }
}

function readOrExit<Schema extends z.ZodObject>(
  service: string,
  schema: Schema,
  env: Environment,
): CommonConfig & z.output<Schema> {
  try {
    return readServiceConfig(schema, env)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    tellOperator(service, error)
    process.exit(wrongConfigurationExit)
  }
}

function tellOperator(service: string, error: ConfigurationError): void {
  process.stderr.write([`${service} can't start:`, ...error.problems.map((problem) => `  ${problem}`), ''].join('\n'))
}
