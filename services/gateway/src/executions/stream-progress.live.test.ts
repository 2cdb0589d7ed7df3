import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { LedgerUnavailable } from '@gateway/ledger-client/call-operation'
import { streamProgress } from './send-execution.ts'
import { expect, test as base } from 'vitest'
import type { Deps } from '../deps.ts'
import { JSON_LINES, openResponseStream } from '../response/response-stream.ts'
import { linesTopicOf, pushedText } from '@gateway/ledger-protocol/flow-reads'
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
  let notify: (text: string | null) => void = () => {}
  let loseAccess = () => {}
  const notifier = {
    receive: (_: string, onText: (text: string | null) => void) => ((notify = onText), () => {}),
    subscribe: (_: string, onNotify: () => void) => ((loseAccess = onNotify), () => {}),
  }
  const openCalls = { cancellation: cancel.signal }
  const waiting = { notifier, openCalls } as unknown as Deps
  const subscription = subscribe(waiting, linesTopicOf('exe_1'), disconnect.signal)
  const state = { written: [] as string[], away: false, refused: false, nowMs: 0 }
  const asked: number[] = []
  async function lookAtProgress({ after }: { after: number }) {
    asked.push(after)
    if (state.refused) return { refused: { code: 'key_revoked', facts: { rotatedTo: null } } }
    if (state.away) throw new LedgerUnavailable({ why: 'unavailable' })
    const lines = state.written.slice(after + 1).map((line) => `${line}\n`)
    return { lines: lines.join(''), seq: state.written.length - 1, done: state.written.at(-1) === 'end' }
  }
  const deps = { lookAtProgress, notifier, openCalls, now: () => state.nowMs } as unknown as Deps
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
    notify(null)
  }
  /** Adds lines and sends them as the ledger does. */
  const push = (...lines: string[]) => {
    const after = state.written.length - 1
    state.written.push(...lines)
    const facts = { after, seq: after + lines.length, done: lines.at(-1) === 'end' }
    notify(pushedText({ ...facts, lines: lines.map((line) => `${line}\n`).join('') }))
  }
  return {
    req,
    res,
    response,
    disconnect,
    cancel,
    state,
    asked,
    start,
    add,
    push,
    loseAccess: () => loseAccess(),
    notify: () => notify(null),
  }
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

/** Starts a stream and waits for its first line. */
async function begun({ state, start, response }: Pick<Stream, 'state' | 'start' | 'response'>) {
  state.written.push('0')
  const ended = start().catch((error: unknown) => error)
  const answer = await response
  await once(answer, 'data')
  return { answer, ended }
}

interface Stream {
  state: { written: string[] }
  start: () => Promise<void>
  response: Promise<IncomingMessage>
}

test('passes lines on that the ledger sends, without reading', async ({ stream }) => {
  const { answer, ended } = await begun(stream)
  stream.push('1')
  stream.push('2', '3')
  stream.push('end')
  expect(await text(answer)).toBe('1\n2\n3\nend\n')
  await ended
  expect(stream.asked).toEqual([-1])
})

test('passes every line on while the ledger cannot be read', async ({ stream }) => {
  const { answer, ended } = await begun(stream)
  stream.state.away = true
  stream.push('1')
  stream.state.nowMs = 3_600_000 // it is time to authorize again
  stream.push('2')
  stream.push('end')
  expect(await text(answer)).toBe('1\n2\nend\n')
  await ended
})

test('reads what is missing between two lines', async ({ stream }) => {
  const { answer, ended } = await begun(stream)
  stream.state.written.push('1') // was sent, and lost
  stream.push('2')
  stream.push('end')
  expect(await text(answer)).toBe('1\n2\nend\n')
  await ended
})

test('passes no line on once someone has lost access, until the reader is authorized [key_revoked]', async ({
  stream,
}) => {
  const { answer, ended } = await begun(stream)
  const all = text(answer).catch(() => '')
  stream.state.refused = true
  stream.loseAccess()
  stream.push('1')
  expect(await ended).toMatchObject({ code: 'key_revoked' })
  stream.res.end()
  expect(await all).toBe('')
})

test('holds lines back if the reader cannot be authorized after someone has lost access', async ({ stream }) => {
  const { answer, ended } = await begun(stream)
  const all = text(answer)
  stream.state.away = true
  stream.loseAccess()
  stream.push('1')
  expect(answer.readableLength).toBe(0)
  stream.state.away = false
  stream.push('end')
  expect(await all).toBe('1\nend\n')
  await ended
})
