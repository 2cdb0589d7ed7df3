import { connect } from 'node:net'
import { once } from 'node:events'

/** Where to cut the connection: after this many bytes of the request or of the response. */
export type Cut = { sent: number } | { answered: number }

/** Bytes of a tool call with progress, in the 2025 era. */
export function wireCall({
  url,
  key,
  idempotencyKey,
  input,
}: {
  url: URL
  key: string
  idempotencyKey: string
  input: object
}): Buffer {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'invoke_product', arguments: input, _meta: { progressToken: 'p' } },
  })
  const headers = [
    `POST ${url.pathname} HTTP/1.1`,
    `Host: ${url.host}`,
    `Authorization: Bearer ${key}`,
    `Idempotency-Key: ${idempotencyKey}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${headers.join('\r\n')}\r\n\r\n${body}`)
}

/**
 * Makes a call and resets its connection at the cut. Resolves with the number of response bytes received, after the cut or the end of a
 * shorter response.
 */
export async function cutCall(url: URL, call: Buffer, cut: Cut): Promise<number> {
  const socket = connect({ host: url.hostname, port: Number(url.port) })
  await once(socket, 'connect')
  let answered = 0
  const over = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    socket.on('error', () => resolve())
    socket.on('data', (part: Buffer) => {
      answered += part.length
      if ('answered' in cut && answered >= cut.answered) socket.resetAndDestroy()
    })
  })
  if ('sent' in cut) {
    socket.write(call.subarray(0, cut.sent), () => socket.resetAndDestroy())
  } else if (cut.answered === 0) {
    socket.write(call, () => setImmediate(() => socket.resetAndDestroy()))
  } else socket.write(call)
  await over
  return answered
}
