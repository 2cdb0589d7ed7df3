import { randomBytes } from 'node:crypto'
import { readFile, rm, chown, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { awaitReady } from './ready-facts.ts'
import { startTied, type TiedProcess, type TiedProgram } from './end-with-starter.ts'
import { freePort } from './stack-ports.ts'
import { lastLines } from './supervise-program.ts'
import { postgresBinaries, type PostgresBinaries } from './postgres-binaries.ts'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

const startLimitMs = 30_000

export interface PostgresOptions {
  /** Created if missing. Contains the data, the password and the log. */
  dataFolder: string
  /** Loopback port; chosen by default. */
  port?: number
  /** If false, the folder is removed by `stop`, or when the starter is gone. */
  persistent: boolean
  /** For tests: does not wait for the disk. Commits survive any kill of the server, but not a power failure. */
  fast?: boolean
}

export interface EmbeddedPostgres {
  /** Superuser, database `svc`. */
  readonly url: string
  readonly port: number
  /** Of the current postmaster. */
  readonly pid: number
  /** Resolves when the current server has ended for any reason. */
  readonly ended: Promise<unknown>
  /** Ends all sessions, writes a checkpoint and stops. */
  stop: () => Promise<void>
  /** Stops as in a crash: without a checkpoint, so the next start recovers from the log. */
  stopImmediately: () => Promise<void>
  /** Stops it if running, and starts it on the same port and data. */
  restart: () => Promise<void>
}

/**
 * Starts Postgres 18 on 127.0.0.1 and resolves when it accepts connections. It ends with this process, even if this
 * process is killed. Throws one clear message if it can't start.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const folder = path.resolve(options.dataFolder)
  const binaries = await postgresBinaries(folder)
  const password = await initialisePostgres(binaries, folder, {
    newPassword: randomBytes(18).toString('base64url'),
    fast: options.fast ?? false,
  })

  let { server, port } = await startOnPort(binaries, folder, options, options.port)
  return {
    get url() {
      return `postgresql://postgres:${password}@127.0.0.1:${port}/svc`
    },
    get port() {
      return port
    },
    get pid() {
      return server.pid
    },
    get ended() {
      return server.ended
    },
    stop: async () => {
      await server.stop()
      if (!options.persistent) await rm(folder, { recursive: true, force: true })
    },
    stopImmediately: async () => {
      server.signal('SIGQUIT')
      await server.ended
    },
    restart: async () => {
      await server.stop()
      ;({ server, port } = await startOnPort(binaries, folder, options, port))
    },
  }
}

/** Another process may take the chosen port before Postgres binds it; then the next one is tried. */
async function startOnPort(
  binaries: PostgresBinaries,
  folder: string,
  options: PostgresOptions,
  wanted: number | undefined,
): Promise<{ server: TiedProcess; port: number }> {
  const deadline = Date.now() + startLimitMs
  const logFile = path.join(folder, 'postgres.log')
  for (;;) {
    await releaseStaleLock(folder, deadline)
    const port = await freePort(wanted, 'Postgres')
    const server = await startTied(program(binaries, folder, options, port), logFile)
    const outcome = await awaitReady(server, () => takesConnections(folder, server.pid), deadline)
    if (outcome === 'ready') return { server, port }
    await server.stop()
    const log = lastLines(logFile, 12)
    const passes = /Address already in use|pre-existing shared memory block/.test(log)
    if (!passes || outcome === 'late' || Date.now() > deadline) {
      throw new Error(`Postgres did not start in ${folder}.\n${log}`)
    }
  }
}

function program(
  binaries: PostgresBinaries,
  folder: string,
  { persistent, fast }: PostgresOptions,
  port: number,
): TiedProgram {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    ...postgresSettings(fast ?? false),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const [command = '', ...args] = [...binaries.prefix, binaries.postgres, '-D', path.join(folder, 'data'), ...flags]
  return {
    command,
    args,
    cwd: '/',
    ...(binaries.user ? { user: binaries.user } : {}),
    endWith: [
      { signal: 'SIGINT', graceMs: 15_000 }, // fast shutdown
      { signal: 'SIGQUIT', graceMs: 5_000 }, // immediate shutdown
    ],
    ...(persistent ? {} : { removeIfOrphaned: folder }),
  }
}

/**
 * The settings that don't depend on where the server listens.
 * @param fast see `PostgresOptions`
 */
export function postgresSettings(fast: boolean): Record<string, string> {
  return {
    max_connections: '400',
    shared_buffers: '256MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // full_page_writes stays on: a killed process can leave half a page even if the machine keeps running.
    ...(fast ? { fsync: 'off', max_wal_size: '4GB', checkpoint_timeout: '30min' } : { autovacuum_naptime: '5s' }), // hot rows leave dead versions with every batch
  }
}

/** Postgres writes its state into the eighth line of postmaster.pid. */
async function takesConnections(folder: string, pid: number): Promise<boolean> {
  const lines = (await readFile(path.join(folder, 'data/postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
}

/**
 * Creates the data folder of a new server, with the database `svc`, and returns the superuser's password. Does nothing
 * if it exists. Text is UTF-8 and compares by byte, so that ids sort alike everywhere.
 */
async function initialisePostgres(
  { initdb, postgres, user, prefix }: PostgresBinaries,
  folder: string,
  { newPassword, fast }: { newPassword: string; fast: boolean },
): Promise<string> {
  const passwordFile = path.join(folder, 'password')
  const data = path.join(folder, 'data')
  if (await readFile(path.join(data, 'PG_VERSION')).catch(() => null)) return readFile(passwordFile, 'utf8')

  // Created next to its final place and renamed when complete: a start killed midway leaves no partial server.
  const making = path.join(folder, 'data.making')
  await rm(making, { recursive: true, force: true })
  await writeFile(passwordFile, newPassword, { mode: 0o600 })
  if (user) await chown(passwordFile, user.uid, user.gid)

  const as = async (args: string[], input: string) => {
    const [command = '', ...rest] = [...prefix, ...args]
    const child = spawn(command, rest, { cwd: '/', ...user })
    const output: Buffer[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk))
    child.stdin.end(input)
    const [code]: unknown[] = await once(child, 'close')
    if (code !== 0)
      throw new Error(`${path.basename(args[0] ?? '')} failed.\n${Buffer.concat(output).toString().trim()}`)
  }
  const identity = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
  const text = ['--encoding=UTF8', '--locale=C']
  await as([initdb, '-D', making, ...identity, ...text, ...(fast ? ['--no-sync'] : [])], '')
  await as([postgres, '--single', '-D', making, ...(fast ? ['-F'] : []), 'postgres'], 'CREATE DATABASE svc\n')
  await rename(making, data)
  return newPassword
}

/**
 * Handles the lock file of a killed server: waits while a server on this folder is still ending, and removes the file
 * if its process ID was reused (Postgres itself would refuse to start). Throws if a server keeps the folder until
 * `deadline` (milliseconds since the epoch).
 */
async function releaseStaleLock(folder: string, deadline: number): Promise<void> {
  const lock = path.join(folder, 'data', 'postmaster.pid')
  for (;;) {
    const holder = Number((await readFile(lock, 'utf8').catch(() => '')).split('\n')[0])
    if (!holder) return
    const commandLine = await commandLineOf(holder)
    if (commandLine === null) return // gone: Postgres detects that itself
    if (!commandLine.includes(path.join(folder, 'data'))) return rm(lock, { force: true })
    if (Date.now() > deadline) {
      throw new Error(
        `${folder} is in use by another Postgres (process ${holder}). Stop what started it, or choose another data folder.`,
      )
    }
    await wait(100)
  }
}

async function commandLineOf(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    return readFile(`/proc/${pid}/cmdline`, 'utf8').then(
      (text) => text.replaceAll('\0', ' '),
      () => null,
    )
  }
  return promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout,
    () => null,
  )
}
