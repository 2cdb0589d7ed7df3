import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/** A free loopback port: the wanted one, or any that the kernel gives. Throws one clear message if the wanted one is taken. */
export async function freePort(wanted: number | undefined, what: string): Promise<number> {
  const probe = createServer().listen(wanted ?? 0, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    throw new Error(
      `Port ${wanted} is taken, so ${what} can't use it. Stop what listens there, or choose another port.`,
      { cause: error },
    )
  }
  const port = portOf(probe)
  await new Promise((done) => probe.close(done))
  return port
}

/** The port that a TCP server listens on. */
export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('This server does not listen on a port.')
  return address.port
}
