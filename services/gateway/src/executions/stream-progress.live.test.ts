import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { streamProgress } from './send-execution.ts'
import { expect, test as base } from 'vitest'
import type { Deps } from '../deps.ts'
import { JSON_LINES, openResponseStream } from '../response/response-stream.ts'
import { subscribe, type Execution } from './start-execution.ts'

// A real connection and an execution that is only a list of lines. The tests of the ledger cover the record itself.
// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
const test = base.extend('stream', async ({}, { onCleanup }) => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(() => server.close().closeAllConnections())
  const req = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false })
  req.on('error', () => {})
  const response = new Promise<IncomingMessage>((resolve) => req.once('response', resolve))
  req.end()
  const [, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]

  const [disconnect, cancel] = [new AbortController(), new AbortController()]
  let notify = () => {}
  const notifier = { subscribe: (_: string, onNotify: () => void) => ((notify = onNotify), () => {}) }
  const openCalls = { cancellation: cancel.signal }
  const waiting = { notifier, openCalls } as unknown as Deps
  const subscription = subscribe(waiting, 'exe_1', disconnect.signal)
  const state = { written: [] as string[], away: false, refused: false, nowMs: 0 }
  const asked: number[] = []
  async function lookAtProgress({ after }: { after: number }) {
    asked.push(after)
    if (state.refused) return { refused: { code: 'key_revoked', facts: { rotatedTo: null } } }
    if (state.away) throw new LedgerUnavailable({ why: 'unavailable' })
    const lines = state.written.slice(after + 1).map((line) => `${line}\n`)
    return { lines: lines.join(''), seq: state.written.length - 1, done: state.written.at(-1) === 'end' }
  }
  const deps = { lookAtProgress, openCalls, now: () => state.nowMs } as unknown as Deps
  const execution = { execution: 'exe_1', replayed: true, ...subscription } as unknown as Execution
  const start = () =>
    streamProgress(
      deps,
      openResponseStream(res, { now: Date.now, kind: JSON_LINES }),
      execution,
      disconnect.signal,
      3_600_000,
    )
  const add = (...lines: string[]) => {
    state.written.push(...lines)
    notify()
  }
  return { req, res, response, disconnect, cancel, state, asked, start, add, notify: () => notify() }
})

test('streams each line once and in order, whether lines are added singly or in groups', async ({
  stream: { response, asked, start, add, notify },
}) => {
  add('0')
  const ended = start()
  const answer = await response
  expect(answer.headers).toMatchObject({ 'content-type': 'application/x-ndjson', 'x-accel-buffering': 'no' })
  const [first] = (await once(answer, 'data')) as [Buffer]
  expect(String(first)).toBe('0\n')
  notify() // spurious
  add('1')
  add('2', '3')
  add('end')
  expect(await text(answer)).toBe('1\n2\n3\nend\n')
  await ended
  expect(asked).toEqual(asked.toSorted((a, b) => a - b))
})

test('loses no line while the ledger is unavailable', async ({ stream: { response, state, start, add, notify } }) => {
  add('0')
  state.away = true
  const ended = start()
  const answer = await response // the headers don't wait for the ledger
  state.away = false
  notify()
  add('1', 'end')
  expect(await text(answer)).toBe('0\n1\nend\n')
  await ended
})

test('ends the response after a complete line if the process stops', async ({
  stream: { response, cancel, start, add },
}) => {
  add('0', '1')
  const ended = start()
  const answer = await response
  const all = text(answer)
  cancel.abort()
  expect(await all).toBe('0\n1\n')
  await ended
})

test('stops streaming if the reader disconnects', async ({
  stream: { req, res, response, disconnect, start, add },
}) => {
  add('0')
  res.once('close', () => disconnect.abort())
  const ended = start()
  await response
  req.destroy()
  await ended
})

test('sends no further line once the key of the reader is revoked [key_revoked]', async ({
  stream: { state, start, add },
}) => {
  add('0')
  const ended = start().catch((error: unknown) => error)
  state.refused = true
  add('1')
  expect(await ended).toMatchObject({ code: 'key_revoked' })
})

test('ends the stream of a repeat after a minute [idempotency_in_progress]', async ({
  stream: { state, start, add },
}) => {
  add('0')
  const ended = start().catch((error: unknown) => error)
  state.nowMs = 60_000
  add('1')
  expect(await ended).toMatchObject({ code: 'idempotency_in_progress', headers: { 'Retry-After': '2' } })
})
