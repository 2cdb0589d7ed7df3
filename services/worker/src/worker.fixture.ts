import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startConstellation } from '@gateway/testbed/constellation'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'

const program = fileURLToPath(new URL('./main.ts', import.meta.url))

export interface WorkerProcess {
  /** Its log lines so far. */
  log(): Record<string, unknown>[]
  /** GET /health/ready. */
  health(): Promise<{ status: string; reasons?: Record<string, string> }>
  metrics(): Promise<string>
  signal(name: NodeJS.Signals): void
  /** Its exit code. */
  ended: Promise<number | null>
}

/**
 * `house` has a real ledger, shared by a file. Each test has a way to it (`road`, a proxy), a Redis and as many workers as it
 * starts.
 */
export const workerTest = liveTest
  .extend('house', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
    const house = await startConstellation({ ledgerUrl: database.ledgerUrl, redisUrl: redis.url, gateways: 0 })
    onCleanup(house.stop)
    return house
  })
  .extend('road', async ({ house }, { onCleanup }) => {
    const { hostname, port } = new URL(house.ledgers[0]!.url)
    const road = await startFaultProxy({ host: hostname, port: Number(port) })
    onCleanup(() => road.close())
    return road
  })
  .extend('startWorker', ({ house, road, redisServer }, { onCleanup }) => {
    const started: WorkerProcess[] = []
    onCleanup(async () => {
      for (const worker of started) worker.signal('SIGKILL')
      await Promise.all(started.map((worker) => worker.ended))
    })
    return async () => {
      const worker = await startProcess({
        LEDGER_URL: road.through(house.ledgers[0]!.url),
        SERVICE_SECRET: house.secrets.worker,
        REDIS_URL: redisServer.url,
        DRAIN_MS: '1000',
      })
      started.push(worker)
      return worker
    }
  })

/** Answers once it listens, which is before it is ready. */
async function startProcess(env: Record<string, string>): Promise<WorkerProcess> {
  const child = fork(program, { env: { STOP_WITH_PARENT: '1', ...env }, silent: true, execArgv: [] })
  let output = ''
  child.stdout?.on('data', (text) => (output += String(text)))
  child.stderr?.on('data', (text) => (output += String(text)))
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const url = await Promise.race([
    once(child, 'message').then(([word]) => (word as { listening: string }).listening),
    ended.then(() => Promise.reject(new Error(`the worker did not start:\n${output}`))),
  ])
  const get = (path: string) => fetch(url + path)
  return {
    log: () =>
      output
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    health: async () => (await (await get('/health/ready')).json()) as Awaited<ReturnType<WorkerProcess['health']>>,
    metrics: async () => (await get('/metrics')).text(),
    signal: (name) => void child.kill(name),
    ended,
  }
}
