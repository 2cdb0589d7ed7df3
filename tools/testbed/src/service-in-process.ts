import { appendFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { readServiceConfig } from '@gateway/service-kit/process/config'
import { createLogger } from '@gateway/service-kit/process/logger'
import { openService, type OpenService, type Service } from '@gateway/service-kit/process/open-service'
import { untilReady, type RunningService } from './test-program.ts'

export type ServiceName = 'ledger' | 'gateway' | 'worker' | 'console'

interface InProcess {
  /** Name of its log, such as `gateway-0`. */
  name: string
  service: ServiceName
  /** Folder of its log. */
  folder: string
  env: Record<string, string>
  /** Default: until it is ready. A service that waits for another one is listening earlier. */
  until?: 'listening' | 'ready'
}

const services = path.resolve(import.meta.dirname, '../../../services')

/**
 * Starts a service in this process, on a port that it keeps across restarts, and waits for it. A separate process would
 * only add signals, the end by `kill -9` and a heap: tests of those use `startProgram`.
 */
export async function startInProcess({ name, service, folder, env, until }: InProcess): Promise<RunningService> {
  const { service: definition } = await loadService(service)
  const logFile = path.join(folder, `${name}.log`)
  writeFileSync(logFile, '', { mode: 0o600, flag: 'a' })
  let settings = env
  let ports = { PORT: '0', METRICS_PORT: '0' }
  let addresses = { listening: '', metrics: '' }
  let opened: OpenService | null = null

  async function open(): Promise<void> {
    const variables = { ...settings, HOST: '127.0.0.1', ...ports }
    const config = readServiceConfig(definition.config, variables)
    const to = { write: (line: string) => appendFileSync(logFile, line) }
    const log = createLogger({ service, level: config.LOG_LEVEL, to })
    const listening = Promise.withResolvers<void>()
    opened = openService(definition, config, {
      env: variables,
      log,
      onListening(heard) {
        addresses = heard
        ports = { PORT: new URL(heard.listening).port, METRICS_PORT: new URL(heard.metrics).port }
        listening.resolve()
      },
    })
    try {
      const started = opened.start()
      if (until === 'listening') {
        started.catch(() => {}) // rejects on a stop before it is ready
        await Promise.race([started, listening.promise])
        return
      }
      await started
      await ready()
    } catch (error) {
      await stop()
      throw error
    }
  }
  async function stop(): Promise<void> {
    const ending = opened
    opened = null
    await ending?.stop('the test has ended')
  }
  const isRunning = () => opened !== null
  const howEnded = () => (isRunning() ? null : 'was stopped before it was ready')
  const ready = () => untilReady({ name, url: addresses.listening, logFile, readyMs: 60_000, howEnded })

  await open()
  return {
    name,
    url: addresses.listening,
    metricsUrl: addresses.metrics,
    get isRunning() {
      return isRunning()
    },
    logFile,
    stop,
    async start(more = {}) {
      settings = { ...settings, ...more }
      await open()
    },
    ready,
  }
}

/** By path: the services are above this package, and their own tests use it. */
function loadService(service: ServiceName): Promise<{ service: Service }> {
  return import(pathToFileURL(path.join(services, service, 'src/service.ts')).href) as Promise<{ service: Service }>
}
