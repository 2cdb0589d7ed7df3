import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { ConfigurationError } from '@gateway/service-kit/process/config'
import { writePrivateJson } from './ready-facts.ts'

// One process holds a data folder, until it ends for any reason.
//   O1  The lock is an exclusive transaction of SQLite on the file `lock`. The kernel gives it to one process and
//       releases it when the process ends. The file stays: removing it would let two processes lock two files.
//   O2  The owner listens on a socket, on which it identifies itself, and only the owner writes down where.
//   O3  An owner that does not respond, because it is suspended, still holds the folder.

/** How the owner of a folder identifies itself. */
export interface FolderOwner {
  pid: number
  stopping: boolean
}

export type FolderLock =
  | { kind: 'held'; release(): Promise<void> }
  | { kind: 'taken'; by: FolderOwner }
  /** Taken by an owner that did not respond; its process ID is null if unknown. */
  | { kind: 'silent'; pid: number | null }

interface OwnerNote {
  pid: number
  /** In the folder for temporary files: the paths of sockets are limited to 104 bytes. */
  socket: string
}

/**
 * Holds a data folder for this process alone. Waits at most `limitMs` for the response of an owner.
 * @throws ConfigurationError if the folder can't be locked
 */
export async function holdFolder(
  folder: string,
  whoAmI: () => FolderOwner,
  limitMs: number = 2_000,
): Promise<FolderLock> {
  const deadline = performance.now() + limitMs
  const noteFile = path.join(folder, 'owner.json')
  for (;;) {
    const lock = tryLock(path.join(folder, 'lock'))
    if (lock) return { kind: 'held', release: await introduce(lock, noteFile, whoAmI) }
    const note = readNote(noteFile)
    const by = note && (await askOwner(note.socket, deadline - performance.now()))
    if (by) return { kind: 'taken', by }
    if (performance.now() >= deadline) return { kind: 'silent', pid: note?.pid ?? null } // O3
    await wait(20) // the owner has just started or just ended
  }
}

/** Returns null if another process, or another call of this one, has the lock. */
function tryLock(file: string): DatabaseSync | null {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(file)
    lock.exec('BEGIN EXCLUSIVE') // O1
    accessSync(file, constants.W_OK) // if the file can only be read, SQLite has made that a shared transaction
    return lock
  } catch (error) {
    lock?.close()
    const { errcode = 0, message } = error as Error & { errcode?: number }
    if ((errcode & 0xff) === sqliteBusy) return null
    throw unusable(file, `can't be locked: ${message}`)
  }
}

const sqliteBusy = 5

function unusable(file: string, problem: string): ConfigurationError {
  return new ConfigurationError([
    `${file} ${problem}.`,
    `If it belongs to another user, such as root, take it back: sudo chown -R "$(id -un)" '${path.dirname(file)}'`,
  ])
}

/** Listens until the returned function is called. */
async function introduce(
  lock: DatabaseSync,
  noteFile: string,
  whoAmI: () => FolderOwner,
): Promise<() => Promise<void>> {
  const before = readNote(noteFile)
  if (before) removeSocket(before.socket)
  const socket = path.join(tmpdir(), `model-gateway-${randomBytes(6).toString('hex')}.sock`)
  try {
    writePrivateJson(noteFile, { pid: whoAmI().pid, socket } satisfies OwnerNote) // O2
  } catch (error) {
    lock.close()
    throw unusable(noteFile, `can't be written: ${(error as Error).message}`)
  }
  const server = createServer((connection) => {
    connection.on('error', () => {})
    connection.end(JSON.stringify(whoAmI()))
  }).listen(socket)
  server.once('close', () => {
    rmSync(noteFile, { force: true })
    lock.close()
  })
  await once(server, 'listening')
  server.unref()
  return () => close(server)
}

/** A killed owner leaves its socket; that of another user can stay. */
function removeSocket(socket: string): void {
  try {
    rmSync(socket, { force: true })
  } catch {
    // Its name is used only once, so it does no harm.
  }
}

function readNote(file: string): OwnerNote | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as OwnerNote
  } catch {
    return null
  }
}

async function askOwner(socket: string, limitMs: number): Promise<FolderOwner | null> {
  const connection = connect(socket)
  const limit = setTimeout(() => connection.destroy(new Error('late')), limitMs)
  try {
    return JSON.parse(await text(connection)) as FolderOwner
  } catch {
    return null
  } finally {
    clearTimeout(limit)
  }
}

/** Also removes the socket. */
async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  await closed
}
