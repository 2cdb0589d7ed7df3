import type { RequestHandler } from 'express'
import type { Refusal } from '@gateway/api/refusal'
import { describe, expect, test } from 'vitest'
import { answerErrors, answerOfRefusal } from './answers.ts'
import { ClientDisconnected, disconnectSignal, readBody } from './read-body.ts'
import { mountRoutes, openApp } from './routes.ts'
import { serve } from './serve.fixture.ts'

const LIMIT = 16

/** Responds with the body it received, and keeps what reading it threw. */
async function echoing() {
  const thrown: unknown[] = []
  const threw = Promise.withResolvers<void>()
  const echo: RequestHandler = async (req, res) => {
    const body = await readBody(req, LIMIT).catch((error: unknown) => {
      thrown.push(error)
      threw.resolve()
      throw error
    })
    res.end(body)
  }
  const app = openApp()
  mountRoutes(app, [['POST', '/', echo]])
  app.use(answerErrors((error) => answerOfRefusal(error as Refusal)))
  return { ...(await serve(app)), thrown, threw: threw.promise }
}

const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers })
const codeOf = async (answer: Response) =>
  `${answer.status} ${((await answer.json()) as { error: { code: string } }).error.code}`
const chunked = (...chunks: string[]) =>
  ['POST / HTTP/1.1', 'Host: here', 'Transfer-Encoding: chunked', '', ''].join('\r\n') +
  chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')

describe('readBody', () => {
  test('returns the bytes sent, in any number of chunks', async () => {
    const { url, send } = await echoing()
    expect(await (await post(url, 'x'.repeat(LIMIT))).text()).toBe('x'.repeat(LIMIT))
    expect(await (await fetch(url, { method: 'POST' })).text()).toBe('')
    const { socket, answer } = send(chunked('abc', 'def'))
    socket.write('3\r\nghi\r\n0\r\n\r\n')
    socket.end()
    expect(await answer).toMatch(/\r\n\r\nabcdefghi$/)
  })

  test('throws if the client has disconnected before it is called', async () => {
    const caught = Promise.withResolvers<unknown>()
    const { send } = await serve((req) => {
      const read = () => readBody(req, LIMIT).catch((error: unknown) => caught.resolve(error))
      req.once('close', () => setImmediate(read))
      socket.destroy()
    })
    const { socket } = send('POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\nab')
    expect(await caught.promise).toBeInstanceOf(ClientDisconnected)
  })

  test('a disconnect before the signal was asked for aborts it, too', async () => {
    const asked = Promise.withResolvers<AbortSignal>()
    const { send } = await serve((_req, res) => {
      res.once('close', () => setImmediate(() => asked.resolve(disconnectSignal(res))))
      socket.destroy()
    })
    const { socket } = send('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
    expect((await asked.promise).reason).toBeInstanceOf(ClientDisconnected)
  })

  test('refuses a too large Content-Length without reading the body [request_too_large]', async () => {
    const { send, threw } = await echoing()
    const { socket, answer } = send(`POST / HTTP/1.1\r\nHost: here\r\nContent-Length: ${LIMIT + 1}\r\n\r\n`)
    await threw // none of the body was sent
    socket.end()
    expect(await answer).toContain('HTTP/1.1 413 ')
  })

  test('refuses a body at the first byte too many, and keeps the connection [request_too_large]', async () => {
    const { send, threw } = await echoing()
    const { socket, answer } = send(chunked('x'.repeat(LIMIT + 1)))
    await threw
    socket.write(`5\r\nother\r\n0\r\n\r\n${chunked('next')}0\r\n\r\n`)
    socket.end()
    const [refused, served] = (await answer).split(/(?=HTTP\/1\.1 200)/)
    expect(refused).toContain('HTTP/1.1 413 ')
    expect(refused).toContain('"code":"request_too_large"')
    expect(served).toMatch(/\r\n\r\nnext$/)
  })

  test('refuses any encoded body [invalid_request]', async () => {
    const { url } = await echoing()
    expect(await codeOf(await post(url, 'x', { 'Content-Encoding': 'gzip' }))).toBe('400 invalid_request')
    expect((await post(url, 'x', { 'Content-Encoding': 'Identity' })).status).toBe(200)
  })

  test('treats a disconnect before the end of the body as neither a response nor an error', async () => {
    const { send, thrown, threw } = await echoing()
    const { socket, answer } = send('POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\nhalf')
    socket.destroySoon()
    await threw
    expect(thrown).toEqual([expect.any(ClientDisconnected)])
    expect(await answer).toBe('')
  })
})

test('aborts the signal if the client disconnects before its response, but not after it', async () => {
  const signals: AbortSignal[] = []
  const left = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const app = openApp()
  app.get('/answered', (_req, res) => {
    signals.push(disconnectSignal(res))
    res.end()
  })
  app.get('/left', (_req, res) => {
    disconnectSignal(res).addEventListener('abort', () => left.resolve())
    arrived.resolve()
  })
  const { url } = await serve(app)
  await fetch(`${url}/answered`)
  const leaving = new AbortController()
  const asking = fetch(`${url}/left`, { signal: leaving.signal }).catch(() => null)
  await arrived.promise
  leaving.abort()
  await Promise.all([asking, left.promise])
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
})
