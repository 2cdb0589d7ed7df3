import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { freePort } from '@gateway/local-stack/stack-ports'

/** A service of a test, in the test's process or in a separate one. */
export interface RunningService {
  name: string
  url: string
  /** Address of `/metrics`, and of nothing else. */
  metricsUrl: string
  readonly isRunning: boolean
  logFile: string
  /** Stops it gracefully, and waits for its end. */
  stop(): Promise<void>
  /**
   * Restarts it on the same port, and waits until it is ready. These settings are added permanently; an empty value
   * removes one.
   */
  start(settings?: Record<string, string>): Promise<void>
  /** Waits until /health/ready responds with 200. */
  ready(): Promise<void>
}

/** A service in a separate process, which a test can kill. */
export interface TestProgram extends RunningService {
  readonly pid: number
  /** SIGKILL, and waits for its end. */
  kill(): Promise<void>
  /** Its next starts run this file, such as another release of the service; null: its own again. */
  replaceBy(other: string | null): void
  /** Any other signal; does not wait. */
  signal(name: NodeJS.Signals): void
}

/** A service that the stack started as a process, to kill or pause. */
export function processOf(service: RunningService | undefined): TestProgram {
  if (service === undefined || !('pid' in service)) throw new Error('Name the service in `processes` of the stack.')
  return service as TestProgram
}

interface Program {
  name: string
  entry: string
  folder: string
  env: Record<string, string>
  /** How long to wait for it. */
  readyMs?: number
}

/**
 * Starts a service as a separate process, on a port that it keeps across restarts, and waits until it is ready;
 * otherwise ends it.
 */
export async function startProgram({ name, entry, folder, env, readyMs = 60_000 }: Program): Promise<TestProgram> {
  const port = await freePort(undefined, name)
  const metricsPort = await freePort(undefined, `the metrics of ${name}`)
  const url = `http://127.0.0.1:${port}`
  const logFile = path.join(folder, `${name}.log`)
  let settings = env
  let program = entry
  let child = spawnProgram()

  function spawnProgram(): ChildProcess {
    const log = openSync(logFile, 'a', 0o600)
    const started = spawn(process.execPath, [program], {
      env: {
        PATH: process.env['PATH'],
        TMPDIR: folder, // files of a killed process are removed with the folder
        ...settings,
        HOST: '127.0.0.1',
        PORT: String(port),
        METRICS_PORT: String(metricsPort),
        STOP_WITH_PARENT: '1',
      },
      stdio: ['pipe', log, log],
    })
    closeSync(log)
    started.stdin?.on('error', () => {})
    return started
  }

  const isRunning = () => child.exitCode === null && child.signalCode === null
  const howEnded = () => (isRunning() ? null : `ended before it was ready (${child.signalCode ?? child.exitCode})`)

  const ready = () => untilReady({ name, url, logFile, readyMs, howEnded })

  async function firstReady(): Promise<void> {
    const startedAt = performance.now()
    await ready()
    await noteStart(performance.now() - startedAt)
  }

  async function ended(): Promise<void> {
    if (isRunning()) await once(child, 'exit')
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await ended()
  }

  try {
    await firstReady()
  } catch (error) {
    await kill()
    throw error
  }
  return {
    name,
    url,
    metricsUrl: `http://127.0.0.1:${metricsPort}`,
    get pid() {
      return child.pid!
    },
    get isRunning() {
      return isRunning()
    },
    logFile,
    kill,
    replaceBy: (other) => void (program = other ?? entry),
    signal: (signal) => void child.kill(signal),
    stop: async () => {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 20_000)
      await ended()
      clearTimeout(late)
    },
    start: async (more = {}) => {
      await ended()
      settings = { ...settings, ...more }
      child = spawnProgram()
      await firstReady()
    },
    ready,
  }
}

interface Waiting {
  name: string
  url: string
  logFile: string
  readyMs: number
  /** Null while it runs. */
  howEnded: () => string | null
}

/** Resolves once /health/ready responds with 200. @throws Error with the end of the log */
export async function untilReady({ name, url, logFile, readyMs, howEnded }: Waiting): Promise<void> {
  const until = performance.now() + readyMs
  while (howEnded() === null && performance.now() < until) {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) }).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const what = howEnded() ?? 'did not become ready'
  throw new Error(`${name} ${what}. The end of its log:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`)
}

/**
 * Records that a test file has started service processes, for the tables that `npm test` prints
 * (bootstrap/test-report.js).
 */
export async function noteStart(ms: number, processes = 1): Promise<void> {
  const { TEST_STARTS } = process.env
  if (TEST_STARTS === undefined) return
  const { expect } = await import('vitest') // only tests set the variable; benches start the same services
  const line = `${JSON.stringify({ file: expect.getState().testPath ?? '', ms: ms / processes })}\n`
  appendFileSync(TEST_STARTS, line.repeat(processes))
}
