import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { PostgresBinaries } from './postgres-binaries.ts'

/**
 * Creates the data folder of a new server, with the database `svc`, and returns the superuser's password. Does nothing
 * if it exists. Text is UTF-8 and compares by byte, so that ids sort alike everywhere.
 */
export async function initialisePostgres(
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
export async function releaseStaleLock(folder: string, deadline: number): Promise<void> {
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
