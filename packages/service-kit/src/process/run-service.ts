import type { z } from 'zod'
import { type CommonConfig, ConfigurationError, type Environment, readServiceConfig } from './config.ts'
import { createLogger } from './logger.ts'
import { openService, type Service } from './open-service.ts'

/** sysexits.h EX_CONFIG: a restart doesn't help until the configuration changes. */
export const wrongConfigurationExit = 78

/**
 * The lifetime of a service's process: configuration, logger, telemetry, `start`, and the stop in reverse order on
 * SIGTERM, SIGINT or the end of its parent. Exit codes: 0 stopped cleanly, 1 failed, 78 wrong configuration.
 */
export async function runService<Schema extends z.ZodObject>(service: Service<Schema>): Promise<void> {
  const { env } = process
  const config = readOrExit(service, env)
  const log = createLogger({ service: service.name, level: config.LOG_LEVEL })

  function fail(error: unknown, message: string): never {
    log.fatal({ err: error }, message)
    process.exit(1)
  }
  process.on('uncaughtException', (error) => fail(error, 'uncaught exception'))
  process.on('unhandledRejection', (error) => fail(error, 'unhandled rejection'))
  process.removeAllListeners('warning') // Node's own listener does not write JSON lines
  process.on('warning', (warning) => log.warn({ err: warning }, 'node.js warning'))

  const opened = openService(service, config, {
    env,
    log,
    onListening: (addresses) => void (process.connected && process.send?.(addresses)),
  })
  async function stop(reason: string): Promise<void> {
    process.exit((await opened.stop(reason)) ? 0 : 1)
  }
  onStopSignals({
    source: process,
    env,
    stop: (reason) => void stop(reason),
    force: (reason) => fail(new Error(reason), 'stopped without waiting'),
    now: () => performance.now(),
  })

  try {
    await opened.start()
  } catch (error) {
    if (opened.stopping.aborted) return // a failure caused by an early stop isn't news
    log.fatal({ err: error }, 'could not start')
    if (error instanceof ConfigurationError) printConfigurationError(service.name, error)
    await opened.stop('could not start')
    process.exit(error instanceof ConfigurationError ? wrongConfigurationExit : 1)
  }
}

function readOrExit<Schema extends z.ZodObject>(
  { name, config }: Service<Schema>,
  env: Environment,
): CommonConfig & z.output<Schema> {
  try {
    return readServiceConfig(config, env)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    printConfigurationError(name, error)
    process.exit(wrongConfigurationExit)
  }
}

function printConfigurationError(service: string, error: ConfigurationError): void {
  process.stderr.write([`${service} can't start:`, ...error.problems.map((problem) => `  ${problem}`), ''].join('\n'))
}

/** The part of `process` that is used here, so that a test can replace it. */
export interface SignalSource {
  on(event: NodeJS.Signals | 'disconnect', listener: () => void): unknown
  readonly channel?: unknown
  readonly stdin: { on(event: 'close', listener: () => void): unknown; resume(): unknown }
}

interface StopDeps {
  source: SignalSource
  env: Environment
  /** Called once, with the reason. */
  stop: (reason: string) => void
  /** Called when a second signal requests an immediate end. */
  force: (reason: string) => void
  now: () => number
}

// A terminal signals every process in the foreground and npm forwards the signal, so one Ctrl-C arrives twice.
const sameRequestMs = 1_000

/**
 * Stops on SIGTERM, SIGINT and SIGHUP; a second signal forces. With `STOP_WITH_PARENT=1` it also stops when the parent
 * has ended in any way: the kernel then closes the channel between them, or standard input if there is none.
 */
export function onStopSignals({ source, env, stop, force, now }: StopDeps): void {
  let askedAt: number | undefined

  function ask(reason: string): void {
    if (askedAt === undefined) {
      askedAt = now()
      stop(reason)
    } else if (now() - askedAt > sameRequestMs) {
      force(reason)
    }
  }

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) source.on(signal, () => ask(signal))

  if (env['STOP_WITH_PARENT'] !== '1') return
  const parentEnded = () => {
    if (askedAt === undefined) ask('the parent process has ended')
  }
  if (source.channel) source.on('disconnect', parentEnded)
  else {
    source.stdin.on('close', parentEnded)
    source.stdin.resume()
  }
}
