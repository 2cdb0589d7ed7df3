import path from 'node:path'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import { openStack } from '@gateway/testbed/stack-test'
import { openWorker, type OpenWorker } from './worker-in-process.fixture.ts'
import { workerProcesses } from './worker-process.fixture.ts'

/* oxlint-disable no-empty-pattern -- vitest reads the needed fixtures from the pattern */

/**
 * `opened` has a real ledger, shared by a file. Each test has a connection to it that it can cut (`proxy`), a Redis,
 * and the workers it starts, which it gets once they listen.
 */
export const workerTest = liveTest
  .extend('opened', { scope: 'file' }, async ({}, { onCleanup }) => {
    const opened = await openStack({}, { gateways: 0, workers: 0, consoles: 0 })
    onCleanup(opened.close)
    return opened
  })
  .extend('proxy', async ({ opened }, { onCleanup }) => {
    const { hostname, port } = new URL(opened.services.ledgers[0]!.url)
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
    onCleanup(() => proxy.close())
    return proxy
  })
  .extend('environment', ({ opened: { services }, proxy, redisServer }) => ({
    LEDGER_URL: proxy.through(services.ledgers[0]!.url),
    SERVICE_PRIVATE_KEY: services.secrets.worker,
    REDIS_URL: redisServer.url,
    ASSETS_FOLDER: path.join(services.folder, 'assets'),
    DRAIN_MS: '1000',
  }))
  .extend('startWorker', ({ opened: { services }, environment }, { onCleanup }) => {
    const started: OpenWorker[] = []
    onCleanup(async () => void (await Promise.all(started.map((worker) => worker.stop()))))
    return async () => {
      const worker = await openWorker({ folder: services.folder, env: environment, until: 'listening' })
      started.push(worker)
      return worker
    }
  })
  // Runs in a separate process, so tests can signal it.
  .extend('startWorkerProcess', ({ environment }, { onCleanup }) => {
    const start = workerProcesses(onCleanup)
    return () => start(environment)
  })
