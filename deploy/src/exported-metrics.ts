import type { Counter, Meter } from '@opentelemetry/api'
import { openMetrics as consoleMetrics } from '@gateway/console/metrics'
import { openMetrics as gatewayMetrics } from '@gateway/gateway/metrics'
import { openMetrics as ledgerMetrics } from '@gateway/ledger/metrics'
import { observeState as observeLedgerState } from '@gateway/ledger/state-metrics'
import { connectionCounter } from '@gateway/service-kit/process/open-service'
import { startTelemetry } from '@gateway/service-kit/process/telemetry'
import { neverAsked } from '@gateway/scenarios/routes-of'
import { openMetrics as workerMetrics } from '@gateway/worker/metrics'
import { watchQueue } from '@gateway/worker/queue/open-queue'
import { parser } from '@prometheus-io/lezer-promql'

/**
 * The names under which Prometheus finds what the services measure: their own instruments, each given one figure, and written
 * by the exporter that they use. `up` is Prometheus' own.
 */
export async function exportedMetrics(): Promise<Set<string>> {
  const text = await metricsText((counter) => counter.add(0))
  const names = new Set(['up'])
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm))
    for (const ending of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) names.add(name + ending)
  return names
}

/** What Prometheus reads from services that have just started and counted nothing. */
export const metricsAtStart = (): Promise<string> => metricsText(() => {})

async function metricsText(onCounter: (counter: Counter) => void): Promise<string> {
  const telemetry = await startTelemetry({ service: 'all', otlpEndpoint: undefined })
  const meter = withFigures(telemetry.meter, onCounter)
  const never = neverAsked()
  for (const service of ['gateway', 'console']) connectionCounter(meter, service)
  const connections = () => [{ provider: 'main', used: 0, waiting: 0 }]
  const inProgress = {
    calls: () => 0,
    imageBytes: () => 0,
    embeddingBytes: () => 0,
    followers: () => 0,
    consoleRequests: () => ({ known: 0 }),
  }
  gatewayMetrics(meter, inProgress).watchConnections(connections)
  ledgerMetrics(meter, never)
  observeLedgerState(meter, never, { ARCHIVE_AFTER_DAYS: undefined, CHECK_EVERY_SECONDS: 60 })
  const ofWorker = workerMetrics(meter)
  ofWorker.watch(never)
  ofWorker.watchConnections(connections)
  watchQueue(meter, never)
  consoleMetrics(meter).observePermits(() => ({ known: 0, unknown: 0, revocation: 0, follower: 0 }))

  const text = await telemetry.metricsText()
  await telemetry.stop()
  return text
}

/** An instrument without a figure is not written. What asks others for its figure is not asked. */
function withFigures(meter: Meter, onCounter: (counter: Counter) => void): Meter {
  return new Proxy(meter, {
    get(target, name: keyof Meter) {
      switch (name) {
        case 'createCounter':
        case 'createUpDownCounter':
          return (...args: Parameters<Meter['createCounter']>) => {
            const counter = target[name](...args)
            onCounter(counter)
            return counter
          }
        case 'createHistogram':
        case 'createGauge':
          return (...args: Parameters<Meter['createGauge']>) => {
            const instrument = target[name](...args)
            instrument.record(0)
            return instrument
          }
        case 'createObservableGauge':
        case 'createObservableCounter':
        case 'createObservableUpDownCounter':
          return (...args: Parameters<Meter['createObservableGauge']>) => {
            target[name](...args).addCallback((result) => result.observe(0))
            return { addCallback() {}, removeCallback() {} }
          }
        case 'addBatchObservableCallback':
        case 'removeBatchObservableCallback':
          return () => {}
      }
    },
  })
}

interface Query {
  /** Metrics that it asks for. */
  metrics: string[]
  /** Values that it asks a label to have; alternatives apart. */
  labels: { label: string; value: string }[]
  /** Whether Prometheus could read it. */
  valid: boolean
}

/** Takes a query apart, by the grammar of Prometheus itself. Variables of Grafana stand for five minutes. */
export function readQuery(expr: string): Query {
  const text = expr.replaceAll(/\$__\w+/g, '5m')
  const query: Query = { metrics: [], labels: [], valid: true }
  let label = ''
  parser.parse(text).iterate({
    enter({ name, type, from, to, node }) {
      const said = text.slice(from, to)
      if (type.isError) query.valid = false
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') query.metrics.push(said)
      if (name === 'LabelName') label = said
      if (name === 'StringLiteral' && /Matcher/.test(node.parent?.name ?? ''))
        for (const value of said.slice(1, -1).split('|')) query.labels.push({ label, value })
    },
  })
  return query
}
