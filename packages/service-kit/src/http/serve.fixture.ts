import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server for the duration of a test, on a loopback port chosen by the kernel. */
export async function serve(handler: RequestListener) {
  const server = createServer(handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    /** Opens a connection and writes any bytes to it. `answer`: everything received before it closed. */
    send(bytes: string) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(bytes)
      onTestFinished(() => void socket.destroy())
      return { socket, answer: textOf(socket) }
    },
  }
}

function textOf(socket: Socket): Promise<string> {
  let text = ''
  socket.setEncoding('utf8').on('data', (part) => (text += String(part)))
  return new Promise((resolve) => socket.once('close', () => resolve(text)))
}
