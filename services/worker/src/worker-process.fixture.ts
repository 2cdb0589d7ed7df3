import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./main.ts', import.meta.url))

export interface WorkerProcess {
  /** Returns its log lines so far. */
  log(): Record<string, unknown>[]
  /** GET /health/ready. */
  health(): Promise<{ status: string; reasons?: Record<string, string> }>
  /** Returns the status of GET /health/live. */
  live(): Promise<number>
  /** Waits until it is ready. */
  ready(): Promise<void>
  metrics(): Promise<string>
  signal(name: NodeJS.Signals): void
  /** Resolves with its exit code. */
  ended: Promise<number | null>
}

/** Starts workers as processes, which are killed when the test ends. Resolves once a worker listens. */
export function workerProcesses(onCleanup: (end: () => Promise<void>) => void) {
  const started: WorkerProcess[] = []
  onCleanup(async () => {
    for (const worker of started) worker.signal('SIGKILL')
    await Promise.all(started.map((worker) => worker.ended))
  })
  return async (env: Record<string, string>): Promise<WorkerProcess> => {
    const worker = await startWorkerProcess(env)
    started.push(worker)
    return worker
  }
}

/** Resolves once it listens, which is before it is ready. */
async function startWorkerProcess(env: Record<string, string>): Promise<WorkerProcess> {
  const child = fork(program, { env: { STOP_WITH_PARENT: '1', ...env }, silent: true, execArgv: [] })
  let output = ''
  child.stdout?.on('data', (text) => (output += String(text)))
  child.stderr?.on('data', (text) => (output += String(text)))
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const { listening: url, metrics } = await Promise.race([
    once(child, 'message').then(([word]) => word as { listening: string; metrics: string }),
    ended.then(() => Promise.reject(new Error(`the worker did not start:\n${output}`))),
  ])
  const get = (path: string) => fetch(url + path)
  const health = async () => (await (await get('/health/ready')).json()) as Awaited<ReturnType<WorkerProcess['health']>>
  return {
    log: () =>
      output
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    health,
    live: async () => (await get('/health/live')).status,
    async ready() {
      while ((await health()).status !== 'ready') await new Promise((resolve) => setTimeout(resolve, 25))
    },
    metrics: async () => (await fetch(`${metrics}/metrics`)).text(),
    signal: (name) => void child.kill(name),
    ended,
  }
}
