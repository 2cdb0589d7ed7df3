import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

// A port is chosen before its program starts, and reserved for its restarts. Meanwhile nothing listens on it, so:
//   P1  It is below the ephemeral ports: otherwise an outgoing connection could take it.
//   P2  It is claimed until this process ends for any reason, by a UDP socket of the same number: nothing here uses
//       UDP, and the kernel gives the number to only one process.

const FIRST = 10_000
const END = 32_768
const TRIES = 1_000

/** Returns a free loopback port: the wanted one, or any. Throws one clear message if the wanted one is in use. */
export async function freePort(wanted: number | undefined, what: string): Promise<number> {
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted
    throw new Error(
      `Port ${wanted} is taken, so ${what} can't use it. Stop what listens there, or choose another port.`,
    )
  }
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, END)
    if ((await claim(port)) && (await isFree(port))) return port
  }
  throw new Error(`No port from ${FIRST} to ${END - 1} is free for ${what}. Stop what listens there.`)
}

/** P2 */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref()
  socket.bind({ port, address: '127.0.0.1', exclusive: true })
  return isOpen(once(socket, 'listening'))
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1')
  if (!(await isOpen(once(probe, 'listening')))) return false
  await new Promise((done) => probe.close(done))
  return true
}

async function isOpen(opening: Promise<unknown>): Promise<boolean> {
  try {
    await opening
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  }
}

/** The port that a TCP server listens on. */
export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('This server does not listen on a port.')
  return address.port
}
