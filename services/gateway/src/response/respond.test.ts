import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { messagesWire } from '@gateway/api/wires/messages/messages-wire'
import { responsesWire } from '@gateway/api/wires/responses/responses-wire'
import type { ChatChunk } from '@gateway/providers/chat-port'
import { ProviderFailure } from '@gateway/providers/provider-failure'
import { onTestFinished, expect, test } from 'vitest'
import { type Call, openReservation } from '../provider-call/call-provider.ts'
import { respond } from './respond.ts'

/** A text inside of a tool call waits, and then the provider breaks off. */
async function* brokenChunks(): AsyncIterable<ChatChunk> {
  const call = { index: 0, id: 'call_a', function: { name: 'look', arguments: '{"a":' } }
  for (const delta of [{ tool_calls: [call] }, { content: 'Hi' }])
    yield { choices: [{ index: 0, delta, finish_reason: null }], usage: null }
  throw new ProviderFailure({ kind: 'cut', provider: 'simulated', detail: 'cut', afterFirstByte: true })
}

/** Returns the events of the broken stream of a call that the ledger has already released, so that it costs nothing. */
async function eventsOfReleased({ request: chat, openAnswer }: ReturnType<typeof messagesWire.read>): Promise<string> {
  const route = { provider: 'simulated', model: 'sim' }
  const deps = {
    now: () => 0,
    providers: { chat: async () => ({ kind: 'stream', route, chunks: brokenChunks() }) },
    countUsage: async () => ({ promptTokens: 30, completionTokens: 10, estimated: true }),
    ledger: { settle: async () => ({ kind: 'fenced' }) },
    openCalls: { track: async <T>(work: Promise<T>) => work },
    notifier: { notify: () => {} },
    metrics: { closed: () => {} },
    log: { warn: () => {}, error: () => {} },
  } as unknown as Parameters<typeof respond>[0]
  const place = { headers: {}, undo() {}, settle() {} }
  const price = ['2000000', '8000000', '0', null, null, null]
  const admitted = { reservation: 'inv_1', invocation: 'inv_1', place, reservedMicro: 1_000, routes: [route], price }
  const call = {
    request: chat,
    wire: messagesWire,
    openAnswer,
    admitted: { ...admitted, project: 'prj_1', outputCap: 50, supportedParameters: [] },
    attachments: null,
    capture: null,
    reservation: openReservation(admitted, false),
    timing: { providerMs: 0 },
  } as unknown as Call
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => server.close().closeAllConnections())
  const asked = request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false }).end()
  const [, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  const [[answer]] = await Promise.all([
    once(asked, 'response') as Promise<[IncomingMessage]>,
    respond(deps, res, call),
  ])
  return text(answer)
}

test.for([
  [
    'Messages',
    messagesWire.read({ model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }], stream: true }),
    ['"text":"Hi"', 'content_block_stop', 'event: error'],
  ],
  [
    'Responses',
    responsesWire.read({ model: 'm', input: 'hi', stream: true }),
    ['"delta":"Hi"', 'response.output_item.done', 'event: response.failed', 'event: error'],
  ],
] as const)(
  'a truncated stream of %s that is not charged ends with all held text before its error',
  async ([, read, wanted]) => {
    const events = await eventsOfReleased(read)
    const places = wanted.map((part) => events.lastIndexOf(part))
    expect(places[0]).toBeGreaterThan(0)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  },
)
