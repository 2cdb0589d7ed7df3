import { diag, DiagLogLevel, type Meter, metrics, trace, type Tracer } from '@opentelemetry/api'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { AggregationTemporality, InstrumentType, MeterProvider, type MetricReader } from '@opentelemetry/sdk-metrics'
import { atMostEvery } from '../async/waiting.ts'
import type { Environment } from './config.ts'
import type { Logger } from './logger.ts'

export interface Telemetry {
  meter: Meter
  tracer: Tracer
  /** Whether there is a collector; without one spans are no-ops. */
  traced: boolean
  /** GET /metrics: the current values of the meter, in the Prometheus text format. */
  metricsText(): Promise<string>
  /** Sends everything still in memory. */
  stop(): Promise<void>
}

interface TelemetryOptions {
  service: string
  /** OTEL_EXPORTER_OTLP_ENDPOINT: enables tracing. The SDK reads all other OTEL_* variables itself. */
  otlpEndpoint: string | undefined
  /** Variables of a service that is called from outside: the sampler in them decides, not the flag of the caller. */
  edgeEnv?: Environment | null
  /** Logs the failures of observable gauges, and of sending to the collector. */
  log?: Pick<Logger, 'warn'>
}

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Metrics are always counted and served as Prometheus text. Traces and pushed metrics exist only with an OTLP endpoint;
 * without one the tracer is the API's no-op, and the SDK is not even loaded.
 */
export async function startTelemetry({
  service,
  otlpEndpoint,
  edgeEnv = null,
  log,
}: TelemetryOptions): Promise<Telemetry> {
  const prepare = currentGaugesAlone(log)
  const scraped = prepare(new PrometheusExporter({ preventServerStart: true }))
  const { meter, stop } = otlpEndpoint
    ? await startSdk(service, edgeEnv, scraped, prepare, log)
    : startMetricsAlone(service, scraped)
  const tracer = trace.getTracer(service)
  // Shared by everyone who asks meanwhile: a gauge is in one collection only.
  let reading: Promise<string> | undefined
  async function read(): Promise<string> {
    const { resourceMetrics } = await scraped.collect()
    return new PrometheusSerializer().serialize(resourceMetrics)
  }
  return {
    meter,
    tracer,
    traced: Boolean(otlpEndpoint),
    metricsText: () => (reading ??= read().finally(() => (reading = undefined))),
    stop,
  }
}

type Started = Pick<Telemetry, 'meter' | 'stop'>

const LOG_EVERY_MS = 60_000

/**
 * Returns what prepares a reader: an observable gauge that was not observed since the last reading, because its source
 * had nothing or failed, is left out. Cumulative readers repeat its last value forever, and no alert can tell. Failures
 * are logged at most once a minute.
 */
function currentGaugesAlone(log: TelemetryOptions['log']): <Reader extends MetricReader>(reader: Reader) => Reader {
  const logFailures = atMostEvery(LOG_EVERY_MS, (errors: unknown[]) =>
    log?.warn({ err: errors[0], failed: errors.length }, 'some metrics could not be read'),
  )

  return (reader) => {
    const temporality = reader.selectAggregationTemporality.bind(reader)
    const collect = reader.collect.bind(reader)
    return Object.assign(reader, {
      selectAggregationTemporality: (type: InstrumentType) =>
        type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : temporality(type),
      collect: async (...options: Parameters<MetricReader['collect']>) => {
        const collected = await collect(...options)
        if (collected.errors.length > 0) logFailures(collected.errors)
        return collected
      },
    })
  }
}

/**
 * The meter belongs to this provider instead of being global, because only the first provider of a process can be
 * global.
 */
function startMetricsAlone(service: string, scraped: MetricReader): Started {
  const resource = defaultResource().merge(resourceFromAttributes({ 'service.name': service }))
  const provider = new MeterProvider({ resource, readers: [scraped] })
  return { meter: provider.getMeter(service), stop: () => provider.shutdown() }
}

/**
 * Traces through OTLP with W3C propagation, metrics through OTLP in addition to the scraped ones. No automatic
 * instrumentation.
 */
async function startSdk(
  service: string,
  edgeEnv: Environment | null,
  scraped: MetricReader,
  prepare: ReturnType<typeof currentGaugesAlone>,
  log: TelemetryOptions['log'],
): Promise<Started> {
  const [{ NodeSDK }, { PeriodicExportingMetricReader }, { OTLPMetricExporter }, { edgeSampler }] = await Promise.all([
    import('@opentelemetry/sdk-node'),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-metrics-otlp-proto'),
    import('./edge-sampler.ts'),
  ])
  const pushed = prepare(new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() }))
  const sampler = edgeEnv && edgeSampler(edgeEnv)
  const sdk = new NodeSDK({
    ...(sampler && { sampler }),
    serviceName: service,
    metricReaders: [scraped, pushed],
    logRecordProcessors: [],
    instrumentations: [],
  })
  logProblems(log) // after the constructor, which may set a logger that writes plain text
  sdk.start()
  return { meter: metrics.getMeter(service), stop: () => sdk.shutdown().finally(() => diag.disable()) }
}

/** Logs what the SDK reports, such as a collector that refuses spans, at most once a minute. */
function logProblems(log: TelemetryOptions['log']): void {
  const warn = atMostEvery(LOG_EVERY_MS, (problem: string) => log?.warn({ problem }, 'telemetry failed'))
  const ignore = () => {}
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  )
}

/** Buckets of every duration histogram: in seconds, from half a millisecond to five minutes. */
export const seconds = {
  unit: 's',
  advice: {
    explicitBucketBoundaries: [
      0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 100, 300,
    ],
  },
}
