import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test as plainTest } from 'vitest'
import { startPostgres } from './embedded-postgres.ts'
import { portOf } from './stack-ports.ts'

const test = plainTest
  // oxlint-disable-next-line no-empty-pattern -- vitest wants the pattern
  .extend('folder', async ({}, { onCleanup }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'svc-embedded-'))
    onCleanup(() => rm(folder, { recursive: true, force: true }))
    return folder
  })

test('a second start of Postgres keeps the data and the password', async ({ folder }) => {
  const first = await startPostgres({ dataFolder: folder, persistent: true, fast: true })
  const systemId = await readFile(path.join(folder, 'data/global/pg_control'))
  await first.stop()
  const second = await startPostgres({ dataFolder: folder, persistent: true, fast: true, port: first.port })
  expect(second.url).toBe(first.url)
  expect((await readFile(path.join(folder, 'data/global/pg_control'))).subarray(0, 8)).toEqual(systemId.subarray(0, 8))
  await second.stop()
})

test('Postgres ignores a stale lock file whose PID was reused', async ({ folder }) => {
  const first = await startPostgres({ dataFolder: folder, persistent: true, fast: true })
  const lock = await readFile(path.join(folder, 'data/postmaster.pid'), 'utf8')
  await first.stop()
  await writeFile(path.join(folder, 'data/postmaster.pid'), lock.replace(/^\d+/, String(process.ppid)))
  const second = await startPostgres({ dataFolder: folder, persistent: true, fast: true })
  expect(second.url).toContain('@127.0.0.1:')
  await second.stop()
})

test('Postgres reports a port in use in one message', async ({ folder }) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const port = portOf(other)
  await expect(startPostgres({ dataFolder: folder, persistent: true, fast: true, port })).rejects.toThrow(
    `Port ${port} is taken, so Postgres can't use it.`,
  )
  other.close()
})

test('a start of Postgres recovers from one that was killed while creating the data', async ({ folder }) => {
  await writeFile(path.join(folder, 'data.making'), 'half')
  const server = await startPostgres({ dataFolder: folder, persistent: true, fast: true })
  expect(await readFile(path.join(folder, 'data/PG_VERSION'), 'utf8')).toBe('18\n')
  await server.stop()
})
