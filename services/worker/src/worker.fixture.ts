import path from 'node:path'
import { startConstellation } from '@gateway/testbed/constellation'
import { startFaultProxy } from '@gateway/testbed/fault-proxy'
import { liveTest } from '@gateway/testbed/live-test'
import { startWorkerProcess, type WorkerProcess } from './worker-process.fixture.ts'

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
      const worker = await startWorkerProcess({
        LEDGER_URL: road.through(house.ledgers[0]!.url),
        SERVICE_SECRET: house.secrets.worker,
        REDIS_URL: redisServer.url,
        ASSETS_FOLDER: path.join(house.folder, 'assets'),
        DRAIN_MS: '1000',
      })
      started.push(worker)
      return worker
    }
  })
