import { noRateLimits } from '@gateway/api/rates'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, test as base } from 'vitest'
import { KEY_SECRET_PREFIX, makeSecret } from '@gateway/api/ids'
import { refuse } from '@gateway/api/refusal'
import { openConcurrencyLimiter } from '@gateway/service-kit/http/caller-permits'
import { sendJson } from '@gateway/service-kit/http/answers'
import { withPermit } from './limits.ts'

// A real server with a single permit, called over raw sockets.
// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
const test = base.extend('room', async ({}, { onCleanup }) => {
  const limiter = openConcurrencyLimiter({ maxPermits: 1, whenFull: () => refuse('overloaded', {}) })
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(() => server.close().closeAllConnections())
  const secret = makeSecret(KEY_SECRET_PREFIX, randomBytes(32))
  const rates = { key: noRateLimits, project: noRateLimits }
  const keyGate = { identify: () => ({ key: 'key_1', lineage: 'key_1', project: 'prj_1', rates, capture: null }) }
  const ask = async (work: (res: ServerResponse) => Promise<void>) => {
    const asked = once(server, 'request')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => {}).write(`GET / HTTP/1.1\r\nAuthorization: Bearer ${secret}\r\nHost: here\r\n\r\n`)
    const [, res] = (await asked) as [unknown, ServerResponse]
    return { socket, res, worked: withPermit({ keyGate, concurrencyLimiter: limiter }, res, () => work(res)) }
  }
  return { limiter, ask }
})

test('keeps the permit until the work ends, even if the caller disconnects', async ({ room: { limiter, ask } }) => {
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

test('keeps the permit until the caller has read the response or disconnects', async ({ room: { limiter, ask } }) => {
  const large = JSON.stringify('x'.repeat(64 * 1024 * 1024)) // exceeds the socket buffers of the operating system
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

test('releases the permit of failed work once the error response is sent', async ({ room: { limiter, ask } }) => {
  const { res, worked } = await ask(() => Promise.reject(new Error('failed')))
  await expect(worked).rejects.toThrow('failed')
  expect(limiter.count()).toBe(1)
  const closed = once(res, 'close')
  sendJson(res, 500, '{}')
  await closed
  expect(limiter.count()).toBe(0)
})

test('does no work without a permit [overloaded]', async ({ room: { limiter, ask } }) => {
  limiter.acquire('another')
  const { worked } = await ask(() => Promise.reject(new Error('was admitted')))
  await expect(worked).rejects.toMatchObject({ code: 'overloaded' })
})
