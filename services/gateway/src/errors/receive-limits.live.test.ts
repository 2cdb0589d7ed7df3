import { once } from 'node:events'
import { createServer, request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, json } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { refuseMalformed } from './malformed-requests.ts'

/** A server as the gateway's, that answers how many bytes it was sent, at /held on request. */
async function serve(held: Promise<void> = Promise.resolve()): Promise<number> {
  const limits = { requestMs: 100, uploadMs: 60_000 }
  const server = createServer(async (req, res) => {
    const { length } = await buffer(req).catch(() => Buffer.alloc(0))
    if (req.url === '/held') await held
    if (!res.destroyed) res.end(JSON.stringify({ length }))
  })
  refuseMalformed({ newId: () => 'req_1' }, server, limits)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  return (server.address() as AddressInfo).port
}

/** A request whose body has begun, and continues on request. */
function begin(port: number, path: string): { sending: ClientRequest; answer: Promise<[number, unknown]> } {
  const sending = request({ port, host: '127.0.0.1', path, method: 'POST', headers: { 'content-length': 4 } })
  const answer = once(sending, 'response').then(async (events): Promise<[number, unknown]> => {
    const [res] = events as [IncomingMessage]
    return [res.statusCode!, await json(res)]
  })
  sending.on('error', () => {}) // the server may close before all is sent
  sending.write('ab')
  return { sending, answer }
}

test('a request that comes too slowly is refused, an upload is given longer [invalid_request]', async () => {
  const port = await serve()
  const upload = begin(port, '/v1/assets')
  const [status, body] = await begin(port, '/v1/chat/completions').answer // it began after the upload
  expect([status, body]).toMatchObject([
    400,
    { error: { code: 'invalid_request', resolution: 'Send the whole request within 0.1 seconds.' } },
  ])
  upload.sending.end('cd')
  expect(await upload.answer).toEqual([200, { length: 4 }])
})

test('what came in time may be answered later', async () => {
  const held = Promise.withResolvers<void>()
  const port = await serve(held.promise)
  const whole = begin(port, '/held')
  whole.sending.end('cd')
  expect((await begin(port, '/').answer)[0]).toBe(400) // it began after the other one
  held.resolve()
  expect(await whole.answer).toEqual([200, { length: 4 }])
})
