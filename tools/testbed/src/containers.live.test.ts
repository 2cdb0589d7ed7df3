import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { migrate } from '@gateway/database/migrate'
import { Redis } from 'ioredis'
import { beforeEach, describe, expect, test } from 'vitest'
import { containerProblem, containerRefusal, startPostgresContainer, startRedisContainer } from './containers.ts'

// Skipped without Docker. `npm test` then prints the reason, and TEST_DOCKER=required turns the skip into a failure.

const TIMEOUT_MS = 300_000 // the engine may have to start slowly

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const problem = await containerProblem()
const required = process.env['TEST_DOCKER'] === 'required'

describe('with Docker', () => {
  beforeEach(({ skip }) => {
    if (problem !== null && required) throw new Error(`TEST_DOCKER=required, but ${problem}.`)
    skip(problem !== null, problem ?? '')
  })

  test('Postgres in a container accepts the migrations, if Docker has the image', { timeout: TIMEOUT_MS }, async () => {
    const postgres = await startPostgresContainer()
    try {
      expect((await migrate({ url: postgres.url, log: () => {} })).length).toBeGreaterThan(0)
    } finally {
      await postgres.stop()
    }
  })

  test('Redis in a container responds, if Docker has the image', { timeout: TIMEOUT_MS }, async () => {
    const server = await startRedisContainer({ databases: 16 })
    const redis = new Redis(server.url)
    try {
      expect(await redis.ping()).toBe('PONG')
    } finally {
      redis.disconnect()
      await server.stop()
    }
  })
})

test.runIf(problem !== null)('TEST_CONTAINERS=1 without Docker ends the run with the remedy', async () => {
  const vitest = path.join(projectFolder, 'node_modules/.bin/vitest')
  const env = { ...process.env, TEST_CONTAINERS: '1' }
  const run = promisify(execFile)(vitest, ['run', '--project', 'live', 'private-servers'], { cwd: projectFolder, env })
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: `${await containerRefusal()}\n`,
  })
})
