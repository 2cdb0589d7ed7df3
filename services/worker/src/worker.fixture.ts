import path from 'node:path'
import { startServices } from '@gateway/testbed/service-stack'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import { startWorkerProcess, type WorkerProcess } from './worker-process.fixture.ts'

/**
 * `stack` has a real ledger, shared by a file. Each test has a connection to it that can be cut (`proxy`), a Redis and as many workers as it
 * starts.
 */
export const workerTest = liveTest
  .extend('stack', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
    const stack = await startServices({ ledgerUrl: database.ledgerUrl, redisUrl: redis.url, gateways: 0 })
    onCleanup(stack.stop)
    return stack
  })
  .extend('proxy', async ({ stack }, { onCleanup }) => {
    const { hostname, port } = new URL(stack.ledgers[0]!.url)
    const proxy = await startFaultProxy({ host: hostname, port: Number(port) })
    onCleanup(() => proxy.close())
    return proxy
  })
  .extend('startWorker', ({ stack, proxy, redisServer }, { onCleanup }) => {
    const started: WorkerProcess[] = []
    onCleanup(async () => {
      for (const worker of started) worker.signal('SIGKILL')
      await Promise.all(started.map((worker) => worker.ended))
    })
    return async () => {
      const worker = await startWorkerProcess({
        LEDGER_URL: proxy.through(stack.ledgers[0]!.url),
        SERVICE_SECRET: stack.secrets.worker,
        REDIS_URL: redisServer.url,
        ASSETS_FOLDER: path.join(stack.folder, 'assets'),
        DRAIN_MS: '1000',
      })
      started.push(worker)
      return worker
    }
  })
