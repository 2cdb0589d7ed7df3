import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test as plainTest } from 'vitest'
import { startPostgres } from './embedded-postgres.ts'

const test = plainTest
  // oxlint-disable-next-line no-empty-pattern -- vitest wants the pattern
  .extend('folder', async ({}, { onCleanup }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'svc-starter-'))
    onCleanup(() => rm(folder, { recursive: true, force: true }))
    return folder
  })
  .extend('starter', async ({ folder }, { onCleanup }) => {
    const starters: ReturnType<typeof spawn>[] = []
    onCleanup(() => starters.forEach((starter) => starter.kill('SIGKILL')))
    return async (persistent: boolean) => {
      const script = `
        import { startPostgres } from '${import.meta.dirname}/embedded-postgres.ts'
        import { startRedis } from '${import.meta.dirname}/embedded-redis.ts'
        const postgres = await startPostgres({ dataFolder: '${folder}/postgres', persistent: ${persistent}, fast: true })
        const redis = await startRedis({ dataFolder: '${folder}/redis', persistent: ${persistent} })
        console.log(JSON.stringify([postgres, redis].map(({ pid, port }) => ({ pid, port }))))`
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      starters.push(child)
      const [facts]: unknown[] = await once(child.stdout, 'data')
      return { process: child, servers: readServers(String(facts)) }
    }
  })

test('kill -9 of the starter ends Postgres and Redis and removes their temporary folders', async ({
  starter,
  folder,
}) => {
  const { process: started, servers } = await starter(false)
  expect(servers.map(({ pid }) => isAlive(pid))).toEqual([true, true])
  started.kill('SIGKILL')
  for (const { pid } of servers) await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false)
  for (const name of ['postgres', 'redis']) {
    await expect.poll(() => exists(path.join(folder, name)), { timeout: 20_000 }).toBe(false)
  }
})

test('after kill -9 of a starter the next one can use the same data immediately', async ({ starter, folder }) => {
  const { process: started } = await starter(true)
  started.kill('SIGKILL')
  const again = await startPostgres({ dataFolder: path.join(folder, 'postgres'), persistent: true, fast: true })
  await expect(opens(again.port)).resolves.toBe(true)
  await again.stop()
  expect(await exists(path.join(folder, 'postgres/data/PG_VERSION'))).toBe(true)
})

test('a starter that ends by itself leaves no server behind', async ({ starter }) => {
  const { process: started, servers } = await starter(false)
  started.kill('SIGTERM')
  for (const { pid } of servers) await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false)
})

function readServers(line: string): { pid: number; port: number }[] {
  return JSON.parse(line)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

async function opens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
  return true
}
