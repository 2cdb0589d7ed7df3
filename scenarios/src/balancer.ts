import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** One URL for several replicas, like a service address in a cluster. */
export interface Balancer {
  url: string
  stop(): Promise<void>
}

/** Starts a TCP balancer: each new connection goes to the next replica that accepts it; open connections stay put. */
export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const sockets = new Set<Socket>()
  let next = 0
  const server = createServer(async (client) => {
    keep(client)
    for (let tries = 0; tries < urls.length; tries++) {
      const { hostname, port } = new URL(urls[next++ % urls.length]!)
      const replica = connect(Number(port), hostname)
      keep(replica)
      try {
        await once(replica, 'connect')
      } catch {
        continue
      }
      client.pipe(replica).pipe(client)
      client.once('close', () => replica.destroy())
      replica.once('close', () => client.destroy())
      return
    }
    client.destroy()
  })

  function keep(socket: Socket): void {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
