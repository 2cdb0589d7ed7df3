import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { flushWithin, sendJson } from './answers.ts'

test.each([
  ['reads a little now and then', 'destroyed'],
  ['reads at once', 'finished'],
])('a client that %s gets a response that is %s in its time', async (reader, end) => {
  const answered = Promise.withResolvers<ServerResponse>()
  const server = createServer((_, res) => {
    sendJson(res, 200, JSON.stringify('x'.repeat(20_000_000)))
    flushWithin(res, 500)
    answered.resolve(res)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  if (reader === 'reads at once') socket.resume()
  else socket.on('readable', () => setTimeout(() => socket.read(1_000), 50))
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const res = await answered.promise
  if (!res.closed) await once(res, 'close')
  expect(res.writableFinished ? 'finished' : 'destroyed').toBe(end)
})
