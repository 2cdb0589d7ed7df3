import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startRedis } from '@gateway/local-stack/embedded-redis'
import { durablePostgres, type DurablePostgres } from './durable-postgres.ts'
import type { Stops } from './stops.ts'

export interface BenchServers {
  /** For logs, profiles and assets; removed at the end. */
  folder: string
  postgres: DurablePostgres
  redis: Awaited<ReturnType<typeof startRedis>>
}

/** A folder, a Postgres that waits for the disk, and a Redis: the basis of every bench of the whole service. */
export async function startBenchServers(stops: Stops): Promise<BenchServers> {
  const folder = await mkdtemp(path.join(tmpdir(), 'svc-bench-'))
  stops.add(() => rm(folder, { recursive: true, force: true }))
  const postgres = await durablePostgres(stops)
  const redis = await startRedis({ dataFolder: path.join(folder, 'redis'), persistent: false })
  stops.add(redis.stop)
  return { folder, postgres, redis }
}
