import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { startInProcess } from '@gateway/testbed/service-in-process'
import type { RunningService } from '@gateway/testbed/test-program'

/** Worker in the process of the test. */
export interface OpenWorker extends RunningService {
  /** Returns its log lines so far. */
  log(): Record<string, unknown>[]
  /** GET /health/ready. */
  health(): Promise<{ status: string; reasons?: Record<string, string> }>
  metrics(): Promise<string>
}

interface Options {
  /** Folder for its log. */
  folder: string
  env: Record<string, string>
  until?: 'listening' | 'ready'
}

export async function openWorker({ folder, env, until = 'ready' }: Options): Promise<OpenWorker> {
  const name = `worker-${randomBytes(4).toString('hex')}`
  const worker = await startInProcess({ name, service: 'worker', folder, env, until })
  return Object.assign(worker, {
    log: () =>
      readFileSync(worker.logFile, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    health: async () =>
      (await (await fetch(`${worker.url}/health/ready`)).json()) as Awaited<ReturnType<OpenWorker['health']>>,
    metrics: async () => (await fetch(`${worker.metricsUrl}/metrics`)).text(),
  })
}
