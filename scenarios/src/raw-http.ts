import { once } from 'node:events'
import { connect } from 'node:net'

export interface RawAnswer {
  status: number
  headers: string
  body: string
}

/** Sends bytes that no client library would send, and reads until the connection closes. */
export async function sendRaw(url: string, bytes: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write(bytes)
  let text = ''
  socket.setEncoding('utf8')
  socket.on('data', (data: string) => (text += data))
  socket.on('error', () => {}) // the server may reset a refused connection
  await once(socket, 'close')
  const [head = '', ...rest] = text.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), headers: head, body: rest.join('\r\n\r\n') }
}

/** A raw POST /v1/chat/completions. */
export function rawChat(headers: string[], body: string, length = Buffer.byteLength(body)): string {
  const lines = [
    'POST /v1/chat/completions HTTP/1.1',
    'Host: gateway',
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
  ]
  return `${[...lines, ...headers].join('\r\n')}\r\n\r\n${body}`
}
