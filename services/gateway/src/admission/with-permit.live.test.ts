import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, test as base } from 'vitest'
import { sendJson } from '@gateway/service-kit/http/answers'
import { openConcurrencyLimiter, withPermit } from './limits.ts'

// A real server with room for one, and connections that behave as they like.
// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
const test = base.extend('room', async ({}, { onCleanup }) => {
  const limiter = openConcurrencyLimiter({ maxPermits: 1 })
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(() => server.close().closeAllConnections())
  const ask = async (work: (res: ServerResponse) => Promise<void>) => {
    const asked = once(server, 'request')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
    const [, res] = (await asked) as [unknown, ServerResponse]
    return { socket, res, worked: withPermit(limiter, res, 'key', () => work(res)) }
  }
  return { limiter, ask }
})

test('a permit is kept by work whose caller has disconnected', async ({ room: { limiter, ask } }) => {
  const work = Promise.withResolvers<void>()
  const { socket, res, worked } = await ask(() => work.promise)
  const closed = once(res, 'close')
  socket.destroy()
  await closed
  expect(limiter.count()).toBe(1)
  work.resolve()
  await worked
  expect(limiter.count()).toBe(0)
})

test('a permit is kept by an answer that no one takes, until its caller takes it or disconnects', async ({
  room: { limiter, ask },
}) => {
  const large = JSON.stringify('x'.repeat(64 * 1024 * 1024)) // more than the system takes off our hands
  for (const end of ['takes', 'disconnects']) {
    const { socket, res, worked } = await ask(async (res) => sendJson(res, 200, large))
    await worked
    expect(limiter.count()).toBe(1)
    const closed = once(res, 'close')
    if (end === 'takes') socket.resume()
    else socket.destroy()
    await closed
    expect(limiter.count()).toBe(0)
    socket.destroy()
  }
})

test('a permit is released when the work fails and the caller was told', async ({ room: { limiter, ask } }) => {
  const { res, worked } = await ask(() => Promise.reject(new Error('failed')))
  await expect(worked).rejects.toThrow('failed')
  expect(limiter.count()).toBe(1)
  const closed = once(res, 'close')
  sendJson(res, 500, '{}')
  await closed
  expect(limiter.count()).toBe(0)
})

test('without a permit no work is done [overloaded]', async ({ room: { limiter, ask } }) => {
  limiter.acquire('another')
  const { worked } = await ask(() => Promise.reject(new Error('was admitted')))
  await expect(worked).rejects.toMatchObject({ code: 'overloaded' })
})
