import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Deps } from '../deps.ts'
import type { McpRequest } from './call-tool.ts'
import { limitReading, openMcpTransport } from './transport.ts'

/** More than the kernel buffers for a connection. */
const LARGE = 'x'.repeat(16 * 1024 * 1024)

const side = { type: 'object', properties: {} }
const sandbox = {
  id: 'sbx-1',
  name: 'Flow',
  description: '',
  revision: 1,
  input: { ...side, title: LARGE },
  output: side,
}
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
/** Its error repeats the name. */
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: LARGE } }

/** Serves the response to a message at a minimum rate. */
async function serve(value: object, rate: { bytesPerSecond: number; windowMs: number }) {
  const deps = {
    metrics: { invoked() {} },
    log: { debug() {} },
    openCalls: { run: (work: () => Promise<void>) => work() },
    now: () => 0,
  } as unknown as Deps
  const transport = openMcpTransport(deps, rate)
  const answered = Promise.withResolvers<void>()
  const server = createServer((req, res) => {
    const asked = { sandbox, req, res } as unknown as McpRequest
    transport.answer(asked, { value }).then(answered.resolve, answered.reject)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const { port } = server.address() as AddressInfo
  const asked = request({ host: '127.0.0.1', port, method: 'POST', agent: false, headers }).end()
  const [res] = (await once(asked, 'response')) as [IncomingMessage]
  return { res, answered: answered.promise }
}

const messages: [string, object][] = [
  ['a tool call', call],
  ['a list of tools', list],
]

test.each(messages)('a client that stops reading the response to %s loses its connection', async (_, message) => {
  const { res, answered } = await serve(message, { bytesPerSecond: 1, windowMs: 50 })
  res.pause()
  await answered
  await expect(text(res)).rejects.toThrow('aborted')
})

test.each(messages)('a client that reads the response to %s gets all of it', async (_, message) => {
  const { res, answered } = await serve(message, { bytesPerSecond: 1, windowMs: 10_000 })
  expect(await text(res)).toContain(LARGE)
  await answered
})

function watched() {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let controller!: ReadableStreamDefaultController<Uint8Array>
  const source = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) })
  const res = { socket: { bytesWritten: 0 }, destroy: vi.fn<() => void>() }
  const limited = limitReading(new Response(source), res as unknown as ServerResponse, {
    bytesPerSecond: 1_000,
    windowMs: 1_000,
  })
  return { controller, res, reader: limited.body!.getReader() }
}

test('sends a large message in pieces, so that each of them counts as progress', async () => {
  const { controller, res, reader } = watched()
  controller.enqueue(new Uint8Array(200_000))
  const sizes: number[] = []
  for (let left = 200_000; left > 0; left -= sizes.at(-1)!) sizes.push((await reader.read()).value!.length)
  expect(sizes).toEqual([65_536, 65_536, 65_536, 3_392])
  expect(res.destroy).not.toHaveBeenCalled()
})

test('waits for the next message without a time limit', async () => {
  const { controller, res, reader } = watched()
  controller.enqueue(new Uint8Array(10))
  await reader.read()
  const next = reader.read() // the client has read the first message
  await vi.advanceTimersByTimeAsync(60_000)
  expect(res.destroy).not.toHaveBeenCalled()
  controller.enqueue(new Uint8Array(10))
  expect((await next).value).toHaveLength(10)
  await vi.advanceTimersByTimeAsync(1_000) // the second one is never read
  expect(res.destroy).toHaveBeenCalledOnce()
})
