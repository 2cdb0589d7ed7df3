import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test as base } from 'vitest'
import { chatWire } from '@gateway/api/wires/chat/chat-wire'
import { eventStream, JSON_LINES, openResponseStream } from './response-stream.ts'

// A real connection, so that a slow or disconnected caller is a real socket.
// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
const test = base.extend('connection', async ({}, { onCleanup }) => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(() => server.close().closeAllConnections())
  const req = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false })
  req.on('error', () => {})
  const response = new Promise<IncomingMessage>((resolve) => req.once('response', resolve))
  req.end()
  const [, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  return { req, res, response }
})

const now = () => performance.now()
const kind = eventStream(chatWire)
const MEGABYTE = 'x'.repeat(1024 * 1024)

test('sends the headers on open, before any event', async ({ connection: { res, response } }) => {
  const stream = openResponseStream(res, { kind, now })
  expect(stream.isOpen()).toBe(false)
  stream.open()
  const answer = await response
  expect(answer.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
  })
  await stream.write('data: 1\n\n')
  stream.end('data: [DONE]\n\n')
  expect(await text(answer)).toBe('data: 1\n\ndata: [DONE]\n\n')
})

test('sends events that are written together in one piece, before anything else happens', async ({
  connection: { res, response },
}) => {
  const stream = openResponseStream(res, { kind, now })
  for (const n of [1, 2, 3]) await stream.write(`data: ${n}\n\n`)
  const answer = await response
  const [first] = (await once(answer, 'data')) as [Buffer]
  expect(String(first)).toBe('data: 1\n\ndata: 2\n\ndata: 3\n\n')
  void stream.write('data: 4\n\n')
  stream.end('data: [DONE]\n\n')
  expect(await text(answer)).toBe('data: 4\n\ndata: [DONE]\n\n')
})

test('sends keep-alive comments while an open stream is quiet', async ({ connection: { res, response } }) => {
  const stream = openResponseStream(res, { kind, now, quietMs: 1 })
  stream.open()
  const answer = await response
  const [comment] = (await once(answer, 'data')) as [Buffer]
  expect(String(comment)).toMatch(/^(: keep-alive\n\n)+$/)
})

test('keeps a JSON lines stream alive with spaces before the next line', async ({ connection: { res, response } }) => {
  const stream = openResponseStream(res, { now, kind: JSON_LINES, quietMs: 1 })
  stream.open()
  const answer = await response
  expect(answer.headers['content-type']).toBe('application/x-ndjson')
  const [blanks] = (await once(answer, 'data')) as [Buffer]
  expect(String(blanks)).toMatch(/^ +$/)
  stream.end('{"seq":0}\n')
  expect(JSON.parse(await text(answer))).toEqual({ seq: 0 })
})

test('waits for a slow caller to catch up', async ({ connection: { res, response } }) => {
  const stream = openResponseStream(res, { kind, now, lagBytes: 1_000 })
  const waiting = [stream.write(MEGABYTE), stream.write(MEGABYTE)].filter((wait) => wait !== undefined)
  expect(waiting).not.toHaveLength(0)
  const answer = await response
  answer.resume()
  await Promise.all(waiting)
  expect(res.destroyed).toBe(false)
})

test('disconnects a caller that lags too long and lets the call continue', async ({ connection: { res } }) => {
  const stream = openResponseStream(res, { kind, now, lagBytes: 1_000, patienceMs: 1 })
  while (!res.destroyed) await stream.write(MEGABYTE)
  expect(stream.write('more')).toBe(undefined)
  stream.end('last')
})

test('ignores writes after the caller has disconnected', async ({ connection: { req, res } }) => {
  const stream = openResponseStream(res, { kind, now })
  const closed = once(res, 'close')
  req.destroy()
  await closed
  stream.open()
  expect(stream.write('data: 1\n\n')).toBe(undefined)
  stream.end('data: [DONE]\n\n')
  expect(stream.isOpen()).toBe(false)
})
