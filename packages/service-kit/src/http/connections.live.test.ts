import { once } from 'node:events'
import { createServer, request, type ClientRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { buffer, json } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { type ConnectionSettings, type EndReason, guardConnections, markAuthenticated } from './connections.ts'

async function serve(settings: ConnectionSettings, handler: RequestListener): Promise<number> {
  const server = createServer({ connectionsCheckingInterval: 50 }, handler)
  guardConnections(server, { newRequestId: () => 'req_1', ...settings })
  server.headersTimeout = 100
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  })
  return (server.address() as AddressInfo).port
}

const SLOW_MS = 100
const settings: ConnectionSettings = { receiveMsOf: ({ url }) => (url === '/v1/assets' ? 60_000 : SLOW_MS) }

/** Responds with the number of bytes received, at /held on request. */
function countBytes(held: Promise<void> = Promise.resolve()): RequestListener {
  return (req, res) =>
    void (async () => {
      const { length } = await buffer(req).catch(() => Buffer.alloc(0))
      if (req.url?.startsWith('/held')) await held
      if (!res.destroyed) res.end(JSON.stringify({ length }))
    })()
}

/** A request whose body has started, and continues on request. */
function begin(port: number, path: string): { sending: ClientRequest; answer: Promise<[number, unknown]> } {
  const sending = request({ port, host: '127.0.0.1', path, method: 'POST', headers: { 'content-length': 4 } })
  const answer = once(sending, 'response').then(async (events): Promise<[number, unknown]> => {
    const [res] = events as [IncomingMessage]
    return [res.statusCode!, await json(res)]
  })
  sending.on('error', () => {}) // the server may close before everything is sent
  sending.write('ab')
  return { sending, answer }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}

/** A connection that has sent this and reads nothing. */
async function open(port: number, sent = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(sent)
  return socket
}

test('refuses a request that arrives too slowly, and gives an upload longer [invalid_request]', async () => {
  const port = await serve(settings, countBytes())
  const upload = begin(port, '/v1/assets')
  const [status, body] = await begin(port, '/v1/chat/completions').answer // it started after the upload
  expect([status, body]).toMatchObject([
    400,
    { error: { code: 'invalid_request', resolution: 'Send the whole request within 0.1 seconds.' } },
  ])
  upload.sending.end('cd')
  expect(await upload.answer).toEqual([200, { length: 4 }])
})

test('forgets a closed connection whose request was refused before its body arrived', async () => {
  const port = await serve({ receiveMsOf: () => 60_000 }, (req, res) => {
    connection = new WeakRef(req.socket)
    closed = once(req.socket, 'close')
    res.writeHead(401, { connection: 'close' }).end()
  })
  let connection: WeakRef<Socket> | undefined
  let closed: Promise<unknown> | undefined
  const socket = await open(port, 'POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\nab')
  await once(socket.resume(), 'end')
  await closed
  closed = undefined
  await setImmediate()
  collectGarbage()
  expect(connection!.deref()).toBeUndefined()
})

test('refuses an upload that arrives below the minimum rate [invalid_request]', async () => {
  const uploadRate = { bytesPerSecond: 10_240, windowMs: 50 }
  const [status, body] = await begin(await serve({ uploadRate }, countBytes()), '/v1/assets').answer
  expect([status, body]).toMatchObject([
    400,
    { error: { code: 'invalid_request', resolution: 'Send an upload at 10 KB per second or faster.' } },
  ])
})

test('does not bound the rate of other bodies, nor the time to answer an upload', async () => {
  const held = Promise.withResolvers<void>()
  const port = await serve({ uploadRate: { bytesPerSecond: 10_240, windowMs: 50 } }, countBytes(held.promise))
  const slow = begin(port, '/v1/chat/completions')
  const upload = begin(port, '/held/assets')
  upload.sending.end('cd')
  expect((await begin(port, '/v1/assets').answer)[0]).toBe(400) // it started after both
  held.resolve()
  slow.sending.end('cd')
  expect([await slow.answer, await upload.answer]).toEqual([
    [200, { length: 4 }],
    [200, { length: 4 }],
  ])
})

test('does not bound the time to answer a request that arrived in time', async () => {
  const held = Promise.withResolvers<void>()
  const port = await serve(settings, countBytes(held.promise))
  const whole = begin(port, '/held')
  whole.sending.end('cd')
  expect((await begin(port, '/').answer)[0]).toBe(400) // it started after the other one
  held.resolve()
  expect(await whole.answer).toEqual([200, { length: 4 }])
})

test.each(['', 'ab'])(
  'does not bound the time to stream a response while the request body %j is unread',
  async (body) => {
    const held = Promise.withResolvers<void>()
    const count = countBytes()
    const port = await serve(settings, (req, res) => {
      if (req.url !== '/stream') return count(req, res)
      res.writeHead(200).flushHeaders()
      void held.promise.then(() => res.end('{}'))
    })
    const headers = { 'content-length': body.length }
    const asked = request({ port, host: '127.0.0.1', path: '/stream', headers }).end(body)
    const [res] = (await once(asked, 'response')) as [IncomingMessage]
    expect((await begin(port, '/').answer)[0]).toBe(400) // it started after the other one
    held.resolve()
    expect(await json(res)).toEqual({})
  },
)

test.for([
  ['sends nothing readable', '', 'malformed'],
  ['stops within its headers', 'POST / HTTP/1.1\r\nHost: here\r\nX-Long: ', 'slow'],
  ['stops within its body', 'POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\nab', 'slow'],
  ['sends no HTTP', 'HELO\r\n\r\n', 'malformed'],
] as const)('destroys the socket of a peer that %s, even if it never reads the refusal', async ([, sent, why]) => {
  const closed = Promise.withResolvers<void>()
  const ended: EndReason[] = []
  const port = await serve({ ...settings, onEnd: (reason) => ended.push(reason) }, (req, res) => {
    req.on('error', () => {}).resume()
    res.on('error', () => {})
  })
  const server = await open(port, sent)
  server.pause().once('close', () => closed.resolve())
  server.write('') // a reset only shows on the next write
  const probe = setInterval(() => server.write('x'), 20)
  onTestFinished(() => clearInterval(probe))
  await closed.promise
  expect(ended).toContain(why)
})

test('closes the oldest unauthenticated connection of an address for a new one, and no authenticated one', async () => {
  const ended: EndReason[] = []
  const bounds = { isTrustedProxy: () => false, maxUnauthenticated: 3 }
  const port = await serve({ ...bounds, onEnd: (reason) => ended.push(reason) }, (req, res) => {
    markAuthenticated(req.socket)
    res.end()
  })
  const known = await open(port, 'GET / HTTP/1.1\r\nHost: here\r\n\r\n')
  await once(known, 'data')
  const head = 'GET / HTTP/1.1\r\n' // incomplete
  const [first, second, third] = [await open(port, head), await open(port, head), await open(port, head)]
  const closed = once(first.resume(), 'close')
  await open(port, head)
  await closed
  expect([known, second, third].map((socket) => socket.destroyed)).toEqual([false, false, false])
  expect(ended).toEqual(['unauthenticated'])
})

test('closes a connection beyond the limit on all', async () => {
  const full = Promise.withResolvers<EndReason>()
  const port = await serve({ maxConnections: 1, onEnd: full.resolve }, (_req, res) => void res.end())
  const first = await open(port)
  await open(port)
  expect(await full.promise).toBe('full')
  first.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
  await once(first, 'data')
})

test('counts the unauthenticated connections of an IPv6 /64 as those of one address', async () => {
  const server = createServer()
  guardConnections(server, { isTrustedProxy: () => false, maxUnauthenticated: 2 })
  const addresses = ['2001:db8::1', '2001:db8:0:1::1', '2001:db8::2', '2001:db8::3']
  const sockets = addresses.map((remoteAddress) => {
    const socket = Object.assign(new PassThrough(), { remoteAddress })
    server.emit('connection', socket)
    return socket
  })
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false])
  for (const socket of sockets) socket.destroy()
})

test.for(['100-continue', 'nonsense'])('handles a request that expects %s like any other', async (expectation) => {
  const port = await serve({}, countBytes())
  const socket = await open(port, `POST / HTTP/1.1\r\nHost: here\r\nExpect: ${expectation}\r\nContent-Length: 2\r\n`)
  let answer = ''
  socket.setEncoding('utf8').on('data', (part) => (answer += String(part)))
  socket.write('Connection: close\r\n\r\nab')
  await once(socket, 'close')
  expect(answer).toMatch(/HTTP\/1\.1 200 OK\r\n[^]*\{"length":2\}/)
})

test('does not bound the connections of a trusted proxy', async () => {
  const port = await serve({ isTrustedProxy: () => true, maxUnauthenticated: 1 }, (_req, res) => void res.end())
  const sockets = [await open(port), await open(port), await open(port)]
  for (const socket of sockets) {
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
    await once(socket, 'data')
  }
})
