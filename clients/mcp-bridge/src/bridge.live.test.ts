import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, test as base } from 'vitest'
import { openBridge } from './bridge.ts'
import type { Message } from './messages.ts'

type Answer = (req: IncomingMessage, res: ServerResponse, message: Message) => void

// A scripted server, and a bridge to it whose waits take no time.
// oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
const test = base.extend('bridged', async ({}, { onCleanup }) => {
  const answers: Answer[] = []
  const tries: { key: string | undefined; message: Message }[] = []
  const server = createServer((req, res) => {
    void json(req).then((message) => {
      tries.push({ key: req.headers['idempotency-key'] as string | undefined, message: message as Message })
      server.emit('try')
      answers.shift()?.(req, res, message as Message)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(() => server.close().closeAllConnections())

  const sent: Message[] = []
  const waits: number[] = []
  let arrived = Promise.withResolvers<void>()
  let clockMs = 0
  let keys = 0
  const bridge = openBridge({
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/sandbox/sbx-1/mcp`),
    key: 'svc_1',
    retryMs: 60_000,
    send(message) {
      sent.push(message)
      arrived.resolve()
      arrived = Promise.withResolvers()
    },
    say: () => {},
    fetch,
    newKey: () => `key-${++keys}`,
    now: () => clockMs,
    wait(ms) {
      waits.push(ms)
      clockMs += ms
      return Promise.resolve()
    },
  })
  return {
    answers,
    tries,
    waits,
    sent,
    take: (message: object) => bridge.take(JSON.stringify({ jsonrpc: '2.0', ...message })),
    applyLine: bridge.take,
    aTry: () => once(server, 'try'),
    /** The response to a message. */
    async answerTo(id: number | null): Promise<Message> {
      for (;;) {
        const answer = sent.find((message) => message.id === id && message.method === undefined)
        if (answer) return answer
        await arrived.promise
      }
    },
  }
})

const call = (id: number) => ({ id, method: 'tools/call', params: { name: 'invoke_product', arguments: {} } })
const ok = { content: [{ type: 'text', text: 'done' }] }
const refusal = (code: string) => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error: { code } }) }],
})
const progress = (at: number) => ({ method: 'notifications/progress', params: { progressToken: 1, progress: at } })

const asJson =
  (body: object, status = 200, headers: Record<string, string> = {}): Answer =>
  (_req, res) =>
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const withResult =
  (result: object): Answer =>
  (req, res, { id }) =>
    asJson({ jsonrpc: '2.0', id, result })(req, res, { jsonrpc: '2.0' })
/** Messages as a stream, which then ends or is cut. */
const asStream =
  (messages: object[], cut = false): Answer =>
  (_req, res, { id }) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const message of messages)
      res.write(
        `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...('result' in message && { id }), ...message })}\n\n`,
      )
    if (cut) setImmediate(() => res.destroy())
    else res.end()
  }
const hangUp: Answer = (req) => void req.socket.destroy()

test('the bridge sends a new idempotency key with each call, and none with other messages', async ({ bridged }) => {
  bridged.answers.push(withResult({ tools: [] }), withResult(ok), withResult(ok))
  bridged.take({ id: 1, method: 'tools/list' })
  await bridged.answerTo(1)
  bridged.take(call(2))
  await bridged.answerTo(2)
  bridged.take(call(3))
  expect(await bridged.answerTo(3)).toEqual({ jsonrpc: '2.0', id: 3, result: ok })
  expect(bridged.tries.map(({ key }) => key)).toEqual([undefined, 'key-1', 'key-2'])
})

test('the bridge retries a call under the same key until it has a result', async ({ bridged }) => {
  bridged.answers.push(
    hangUp,
    asJson({ error: { code: 'unavailable', message: 'm', resolution: 'r' } }, 503, { 'retry-after': '7' }),
    asStream([], true),
    asStream([]),
    withResult(refusal('idempotency_in_progress')),
    withResult(refusal('overloaded')),
    asStream([{ result: ok }]),
  )
  bridged.take(call(1))
  expect(await bridged.answerTo(1)).toMatchObject({ result: ok })
  expect(bridged.tries.map(({ key }) => key)).toEqual(Array(7).fill('key-1'))
  for (const { message } of bridged.tries) expect(message).toEqual({ jsonrpc: '2.0', ...call(1) })
  expect(bridged.waits).toEqual([250, 7_000, 1_000, 2_000, 4_000, 5_000])
})

test('the bridge retries less often with time, even if the service asks for an immediate retry', async ({
  bridged,
}) => {
  const now = asJson({ error: { code: 'overloaded', message: 'm', resolution: 'r' } }, 503, { 'retry-after': '0' })
  bridged.answers.push(now, now, now, withResult(ok))
  bridged.take(call(1))
  expect(await bridged.answerTo(1)).toMatchObject({ result: ok })
  expect(bridged.waits).toEqual([250, 500, 1_000])
})

test('the bridge forwards progress as it arrives, and each step only once', async ({ bridged }) => {
  bridged.answers.push(
    asStream([progress(0), progress(1)], true),
    asStream([progress(0), progress(1), progress(2), { result: ok }]),
  )
  bridged.take(call(1))
  await bridged.answerTo(1)
  expect(bridged.sent.map(({ params }) => params?.progress)).toEqual([0, 1, 2, undefined])
})

test('the bridge does not retry other refusals', async ({ bridged }) => {
  bridged.answers.push(
    withResult(refusal('input_type')),
    asJson({ error: { code: 'mcp_disabled', message: 'MCP is off.', resolution: 'Turn it on.' } }, 403),
    asJson({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'no' } }, 400),
    asJson({}, 418),
  )
  for (const id of [1, 2, 3, 4]) {
    bridged.take(call(id))
    await bridged.answerTo(id)
  }
  expect(bridged.tries).toHaveLength(4)
  expect(bridged.sent).toMatchObject([
    { id: 1, result: { isError: true } },
    { id: 2, error: { code: -31_000, message: 'mcp_disabled: MCP is off. Turn it on.', data: { status: 403 } } },
    { id: 3, error: { code: -32_600, message: 'no' } },
    { id: 4, error: { message: 'The service responded with status 418.' } },
  ])
})

test('the bridge returns the result of a failed execution at once, regardless of its error', async ({ bridged }) => {
  for (const [n, code] of ['unavailable', 'overloaded', 'rate_limited', 'idempotency_in_progress'].entries()) {
    const text = JSON.stringify({ error: { code }, execution: 'exe_1', chargedMicro: 42 })
    const failed = { isError: true, content: [{ type: 'text', text }] }
    bridged.answers.push(n % 2 === 0 ? withResult(failed) : asStream([{ result: failed }]))
    bridged.take(call(n))
    expect(await bridged.answerTo(n)).toMatchObject({ result: failed })
  }
  expect([bridged.tries.length, bridged.waits]).toEqual([4, []])
})

test('the bridge returns the last response when the time is up', async ({ bridged }) => {
  bridged.answers.push(...Array<Answer>(100).fill(withResult(refusal('idempotency_in_progress'))))
  bridged.take(call(1))
  expect(await bridged.answerTo(1)).toMatchObject({ id: 1, result: { isError: true } })
  expect(bridged.waits.reduce((sum, ms) => sum + ms)).toBe(60_000)

  bridged.answers.splice(0, Infinity, ...Array<Answer>(100).fill(hangUp))
  bridged.take({ id: 2, method: 'tools/list' })
  const { error } = await bridged.answerTo(2)
  expect(error!.message).toMatch(/did not respond/)
})

test('the bridge neither retries a cancelled call nor responds to it', async ({ bridged }) => {
  const tried = bridged.aTry()
  bridged.answers.push(() => {}, withResult(ok))
  bridged.take(call(1))
  await tried
  bridged.take({ method: 'notifications/cancelled', params: { requestId: 1 } })
  bridged.take(call(2))
  await bridged.answerTo(2)
  expect(bridged.tries.map(({ key }) => key)).toEqual(['key-1', 'key-2'])
  expect(bridged.sent.map(({ id }) => id)).toEqual([2])
})

test('the bridge forwards notifications, but not responses of the client', async ({ bridged }) => {
  const tried = bridged.aTry()
  bridged.answers.push((_req, res) => res.writeHead(202).end())
  bridged.take({ method: 'notifications/initialized' })
  await tried
  bridged.take({ id: 9, result: {} })
  bridged.answers.push(withResult({}))
  bridged.take({ id: 1, method: 'ping' })
  await bridged.answerTo(1)
  expect(bridged.tries.map(({ message }) => message.method)).toEqual(['notifications/initialized', 'ping'])
})

test('the bridge sends the negotiated protocol revision with each further message', async ({ bridged }) => {
  const versions: unknown[] = []
  const noting =
    (result: object): Answer =>
    (req, res, message) => {
      versions.push(req.headers['mcp-protocol-version'])
      withResult(result)(req, res, message)
    }
  bridged.answers.push(noting({ protocolVersion: '2025-11-25' }), noting({}))
  bridged.take({ id: 1, method: 'initialize', params: {} })
  await bridged.answerTo(1)
  bridged.take({ id: 2, method: 'ping' })
  await bridged.answerTo(2)
  expect(versions).toEqual([undefined, '2025-11-25'])
})

test('the bridge responds to a malformed line with a parse error', async ({ bridged }) => {
  bridged.applyLine('{"jsonrpc"')
  expect(await bridged.answerTo(null)).toMatchObject({ id: null, error: { code: -32_700 } })
})
