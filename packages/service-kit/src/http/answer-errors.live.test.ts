import type { RequestHandler } from 'express'
import { refuse } from '@gateway/api/refusal'
import { expect, test } from 'vitest'
import { answerErrors, answerOfRefusal, type ExplainError } from './answers.ts'
import { openApp } from './routes.ts'
import { serve } from './serve.fixture.ts'

const MEGABYTE = 1024 * 1024
const overloaded = () => refuse('overloaded', {}, { retryAfterMs: 2_000 })

async function failing(handle: RequestHandler, explain: ExplainError = () => answerOfRefusal(overloaded())) {
  const explained: unknown[] = []
  const app = openApp()
  app.post('/', handle)
  app.use(
    answerErrors((error, req, res) => {
      explained.push(error)
      return explain(error, req, res)
    }),
  )
  return { ...(await serve(app)), explained }
}
const throwing: RequestHandler = () => {
  throw new Error('broke')
}

test('answerErrors responds once as explained, with the headers set before', async () => {
  const { url, explained } = await failing((_req, res) => {
    res.setHeader('X-Request-Id', 'req_1')
    throw new Error('broke')
  })
  const answer = await fetch(url, { method: 'POST' })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  expect(answer.headers.get('x-request-id')).toBe('req_1')
  expect(answer.headers.get('link')).toBe('</docs/refusals/overloaded>; rel="help"')
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.json()).toEqual({ error: overloaded().body })
  expect(explained).toEqual([expect.objectContaining({ message: 'broke' })])
})

test('answerErrors responds to a rejection of an async handler', async () => {
  const { url } = await failing(async () => Promise.reject(new Error('broke')))
  expect((await fetch(url, { method: 'POST' })).status).toBe(503)
})

test('answerErrors sends a text body unchanged', async () => {
  const headers = { 'Content-Type': 'text/html; charset=utf-8' }
  const { url } = await failing(throwing, () => ({ status: 403, body: '<p>Größe</p>', headers }))
  const answer = await fetch(url, { method: 'POST' })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
  expect(await answer.text()).toBe('<p>Größe</p>')
})

test('answerErrors breaks off a response that has started', async () => {
  const { send, explained } = await failing(async (_req, res) => {
    await new Promise((resolve) => res.write('half', resolve))
    throw new Error('broke')
  })
  const { answer } = send('POST / HTTP/1.1\r\nHost: here\r\n\r\n')
  expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*\r\nhalf\r\n$/)
  expect(explained).toHaveLength(1)
})

test('a client that is still sending gets its response, may finish, and can send its next request', async () => {
  const { send } = await failing(throwing)
  const request = (length: number) => `POST / HTTP/1.1\r\nHost: here\r\nContent-Length: ${length}\r\n\r\n`
  const { socket, answer } = send(request(MEGABYTE))
  await new Promise((resolve) => socket.once('data', resolve))
  socket.end('x'.repeat(MEGABYTE) + request(0))
  expect((await answer).match(/HTTP\/1\.1 503 /g)).toHaveLength(2)
})

test('a client that never stops sending is disconnected', async () => {
  const { send } = await failing(throwing)
  const { socket, answer } = send(`POST / HTTP/1.1\r\nHost: here\r\nContent-Length: ${64 * MEGABYTE}\r\n\r\n`)
  await new Promise((resolve) => socket.once('data', resolve))
  const piece = Buffer.alloc(MEGABYTE)
  const sendOn = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', sendOn)
  sendOn()
  expect(await answer).toContain('HTTP/1.1 503 ')
  expect(socket.bytesWritten).toBeLessThan(64 * MEGABYTE)
})
