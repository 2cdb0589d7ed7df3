import { test } from 'vitest'
import { freshDatabase } from './fresh-database.ts'
import { freshRedis } from './fresh-redis.ts'
import { privatePostgres, privateRedis } from './private-servers.ts'

/* oxlint-disable no-empty-pattern -- vitest reads from the pattern what a fixture needs, and an empty one is required for nothing */

/**
 * `test` with real servers. Creates only the fixtures named in a test's first argument: `database` and `redis` once per
 * file on the servers that all files share, `postgresServer` and `redisServer` as processes of that one test, which may
 * kill them.
 */
export const liveTest = test
  .extend('database', { scope: 'file' }, async ({}, { onCleanup }) => {
    const database = await freshDatabase()
    onCleanup(database.drop)
    return database
  })
  .extend('redis', { scope: 'file' }, async ({}, { onCleanup }) => {
    const redis = await freshRedis()
    onCleanup(redis.drop)
    return redis
  })
  .extend('postgresServer', async ({}, { onCleanup }) => {
    const server = await privatePostgres()
    onCleanup(() => server.stop())
    return server
  })
  .extend('redisServer', async ({}, { onCleanup }) => {
    const server = await privateRedis()
    onCleanup(() => server.stop())
    return server
  })
