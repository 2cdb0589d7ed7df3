import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { realpathSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'

/** How the owner of a folder identifies itself. */
export interface FolderOwner {
  pid: number
  stopping: boolean
}

export type FolderLock = { kind: 'held'; release(): Promise<void> } | { kind: 'taken'; by: FolderOwner }

/**
 * Holds a data folder for this process alone, until it ends for any reason. Does not rely on a process ID: the owner
 * listens on a socket and identifies itself, and a socket without a listener is stale.
 */
export async function holdFolder(folder: string, whoAmI: () => FolderOwner): Promise<FolderLock> {
  const name = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 24)
  const socket = path.join(tmpdir(), `model-gateway-${name}.sock`) // short: socket paths are limited to 104 bytes
  for (;;) {
    const server = await listen(socket, whoAmI)
    if (server) return { kind: 'held', release: () => close(server) }
    const by = await askOwner(socket)
    if (by) return { kind: 'taken', by }
    rmSync(socket, { force: true })
  }
}

async function listen(socket: string, whoAmI: () => FolderOwner): Promise<Server | null> {
  const server = createServer((connection) => {
    connection.on('error', () => {})
    connection.end(JSON.stringify(whoAmI()))
  }).listen(socket)
  try {
    await once(server, 'listening')
    return server.unref()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null
    throw error
  }
}

async function askOwner(socket: string): Promise<FolderOwner | null> {
  const connection = connect(socket)
  try {
    return JSON.parse(await text(connection)) as FolderOwner
  } catch {
    return null
  }
}

/** Also removes the socket. */
async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  await closed
}
