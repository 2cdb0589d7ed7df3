import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { migrate } from '@gateway/database/migrate'
import { startPostgres } from '@gateway/local-stack/embedded-postgres'
import { startRedis } from '@gateway/local-stack/embedded-redis'
import { containersWanted, startPostgresContainer, startRedisContainer, type PrivateServer } from './containers.ts'
import { serviceUrls, temporaryFolder, type TestServers } from './test-servers.ts'
import { execFile } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

// In containers if TEST_CONTAINERS=1, else embedded.

/** A migrated Postgres server, with the logins of the services. */
export type PrivatePostgres = PrivateServer & Omit<TestServers, 'redisUrl'>
export type PrivateRedis = Pick<PrivateServer, 'url' | 'stop' | 'stopImmediately' | 'restart'>

/**
 * Starts a separate temporary, migrated Postgres server, for tests that stop or kill it. `stop` removes it.
 * @param fast see `PostgresOptions`; in a container it always is
 */
export async function privatePostgres({ fast = true } = {}): Promise<PrivatePostgres> {
  const server = containersWanted() ? await startPostgresContainer() : await embeddedPostgres(fast)
  try {
    await migrate({ url: server.url, log: () => {} })
    return Object.assign(server, await serviceUrls(server.url))
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Starts a separate temporary Redis server, for tests that flush, stop or kill it. `stop` removes it. */
export async function privateRedis(): Promise<PrivateRedis> {
  if (containersWanted()) return startRedisContainer({ databases: 16 })
  return startRedis({ dataFolder: await temporaryFolder('redis'), persistent: false })
}

async function embeddedPostgres(fast: boolean): Promise<PrivateServer> {
  const dataFolder = await temporaryFolder('postgres')
  const server = await startPostgres({ dataFolder, persistent: false, fast })
  return Object.assign(server, {
    kill: async () => {
      process.kill(server.pid, 'SIGKILL')
      await server.ended
    },
    pause: (ms: number) => standStill([server.pid], ms),
    log: () => readFile(path.join(dataFolder, 'postgres.log'), 'utf8'),
  })
}

const run = promisify(execFile)

/**
 * Pauses processes and everything they have started for this long, like a paused or starved machine. They continue in
 * any case, and their connections stay unchanged.
 */
export async function standStill(pids: readonly number[], ms: number): Promise<void> {
  const stopped = new Set<number>()
  try {
    // A process that is still running may start another one: repeat until nothing new is found.
    for (let found = [...pids]; found.length > 0; found = (await treeOf(pids)).filter((pid) => !stopped.has(pid)))
      for (const pid of found) {
        send(pid, 'SIGSTOP')
        stopped.add(pid)
      }
    await wait(ms)
  } finally {
    for (const pid of [...stopped].toReversed()) send(pid, 'SIGCONT')
  }
}

/** Ignores a process that has ended meanwhile. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** These processes and all that they started, parents first. */
async function treeOf(pids: readonly number[]): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid='])
  const childrenOf = new Map<number, number[]>()
  for (const line of stdout.trim().split('\n')) {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number)
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), pid])
  }
  const tree = [...pids]
  for (const pid of tree) tree.push(...(childrenOf.get(pid) ?? []))
  return tree
}
