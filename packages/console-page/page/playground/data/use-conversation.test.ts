import { expect, test, vi } from 'vitest'
import { newAnswer, newConversation, spent } from '../core/conversation.ts'
import type { Answer } from '../core/conversation.ts'
import { openEventData, applyChunk, streamAnswer, type Chunk } from './use-conversation.ts'

const chunk = (delta: object, usage?: object) =>
  ({ id: 'inv_1', choices: [{ index: 0, delta, finish_reason: null }], usage }) as unknown as Chunk

test('applyChunk appends text, records the time of the first token, and reads the charge from the last chunk', () => {
  const role = applyChunk(newAnswer('a', 'm'), chunk({ role: 'assistant' }), 5)
  const first = applyChunk(role, chunk({ content: 'Ra' }), 20)
  const second = applyChunk(first, chunk({ content: 'in' }), 40)
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cost: 0.000005, cost_micro: 5 }
  const last = applyChunk(second, { ...chunk({}, usage), choices: [] }, 50)
  expect(last).toMatchObject({ invocation: 'inv_1', text: 'Rain', firstMs: 20, chargedMicro: 5 })
  expect(last.usage).toEqual({ prompt: 3, completion: 2 })
})

test('applyChunk assembles tool calls from several chunks', () => {
  const begun = chunk({
    tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '' } }],
  })
  const more = chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] })
  const answer = applyChunk(applyChunk(newAnswer('a', 'm'), begun, 1), more, 2)
  expect(answer.toolCalls).toEqual([{ id: 'c1', name: 'look', arguments: '{"a":1}', result: '' }])
})

test('openEventData handles events split at any point and ignores comments', () => {
  const taken: string[] = []
  const read = openEventData((data) => taken.push(data))
  for (const piece of ['data: {"a"', ':1}\n', '\n: keep-alive\n\ndata: [DO', 'NE]\n\n']) read(piece)
  expect(taken).toEqual(['{"a":1}', '[DONE]'])
})

test('spent includes replaced responses and counts pending and unknown charges', () => {
  const paid = { ...newAnswer('a', 'm'), chargedMicro: 7 }
  const entries = [
    {
      kind: 'answers' as const,
      id: 'a',
      columns: [paid, newAnswer('a', 'n'), { ...newAnswer('a', 'o'), state: 'lost' as const }],
    },
  ]
  expect(spent({ ...newConversation, entries, replaced: [paid] })).toEqual({ micro: 14, open: 1, unknown: 1 })
})

const body = { model: 'm', messages: [] } as never

/** Sends to a server whose response the test gives, and keeps the answer as the conversation does. */
function send(response: Promise<Response>) {
  vi.stubGlobal('fetch', () => response)
  const stop = new AbortController()
  const held: { answer: Answer } = { answer: newAnswer('a', 'm') }
  const done = streamAnswer({ secret: 'svc_x', body, signal: stop.signal }, (next) => (held.answer = next(held.answer)))
  return { stop, held, done }
}

test('a response that is stopped before it begins still gets the ID of its call, whose charge is read with it', async ({
  onTestFinished,
}) => {
  onTestFinished(() => void vi.unstubAllGlobals())
  const response = Promise.withResolvers<Response>()
  const { stop, held, done } = send(response.promise)
  stop.abort()
  expect(held.answer.state).toBe('stopped')
  let isCancelled = false
  const events = new ReadableStream({ cancel: () => void (isCancelled = true) })
  response.resolve(new Response(events, { headers: { 'X-Service-Invocation': 'inv_1' } }))
  await done
  expect(held.answer).toMatchObject({ state: 'stopped', invocation: 'inv_1', chargedMicro: null })
  expect(isCancelled).toBe(true)
})

test('a response that is stopped and then refused is not charged', async ({ onTestFinished }) => {
  onTestFinished(() => void vi.unstubAllGlobals())
  const response = Promise.withResolvers<Response>()
  const { stop, held, done } = send(response.promise)
  stop.abort()
  const error = { code: 'key_revoked', type: 'authentication_error', message: 'x', resolution: 'y', param: null }
  response.resolve(Response.json({ error }, { status: 401 }))
  await done
  expect(held.answer).toMatchObject({ state: 'stopped', invocation: null, chargedMicro: 0 })
})

test('a response that is stopped while it arrives keeps its text', async ({ onTestFinished }) => {
  onTestFinished(() => void vi.unstubAllGlobals())
  const event = { id: 'inv_1', choices: [{ index: 0, delta: { content: 'Ra' }, finish_reason: null }] }
  const events = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)),
  })
  const headers = { 'X-Service-Invocation': 'inv_1' }
  const { stop, held, done } = send(Promise.resolve(new Response(events, { headers })))
  await vi.waitUntil(() => held.answer.text === 'Ra')
  stop.abort()
  await done
  expect(held.answer).toMatchObject({ state: 'stopped', invocation: 'inv_1', text: 'Ra', refusal: null })
})
