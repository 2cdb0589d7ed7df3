import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { ChunkChoice, Delta, FinishReason } from '../chat-answer.ts'
import { messagesWire } from './messages/messages-wire.ts'
import { responsesWire } from './responses/responses-wire.ts'

// Streams as the public documentation of each wire shows them (fixtures/*.jsonl, with other words), against ours of the
// same content: the same events in the same order, and no documented field missing in any of them.

const chunk = (delta: Delta, finish: FinishReason | null = null): ChunkChoice[] => [
  { index: 0, delta, finish_reason: finish },
]
const stop = chunk({}, 'stop')
const call = chunk({
  tool_calls: [{ index: 0, id: 'call_1', function: { name: 'get_weather', arguments: '{"location":' } }],
})
const rest = chunk({ tool_calls: [{ index: 0, function: { arguments: ' "Oslo"}' } }] })
const thought = [
  chunk({ role: 'assistant', reasoning_content: 'Hm' }),
  chunk({ reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 'sealed' }] }),
]

const message = { model: 'm', max_tokens: 50, stream: true, messages: [{ role: 'user', content: 'hi' }] }
const response = { model: 'm', stream: true, input: 'hi' }
const streams: [fixture: string, open: () => ReturnType<typeof messagesWire.read>, chunks: ChunkChoice[][]][] = [
  ['messages-text', () => messagesWire.read(message), [chunk({ content: 'Hello' }), chunk({ content: '!' }), stop]],
  [
    'messages-tool-use',
    () => messagesWire.read(message),
    [chunk({ content: 'Let me check.' }), call, rest, chunk({}, 'tool_calls')],
  ],
  ['messages-thinking', () => messagesWire.read(message), [...thought, chunk({ content: 'Nine.' }), stop]],
  ['responses-text', () => responsesWire.read(response), [chunk({ content: 'Hello' }), chunk({ content: '!' }), stop]],
  ['responses-function-call', () => responsesWire.read(response), [call, rest, chunk({}, 'tool_calls')]],
  ['responses-reasoning', () => responsesWire.read(response), [...thought, chunk({ content: 'Nine.' }), stop]],
]

type Event = { type: string } & Record<string, unknown>

/** Events of one type in a row count as one: how a text is cut is not documented. Pings may come at any time. */
function inRows(events: Event[]): Event[] {
  return events.filter(({ type }, n) => type !== 'ping' && type !== events[n - 1]?.type)
}

function documented(fixture: string): Event[] {
  const text = readFileSync(path.join(import.meta.dirname, 'fixtures', `${fixture}.jsonl`), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event)
}

/** Paths of fields that a documented value has and ours lacks. */
function missingIn(ours: unknown, theirs: unknown, at = ''): string[] {
  if (typeof theirs !== 'object' || theirs === null) return []
  if (typeof ours !== 'object' || ours === null) return [at]
  return Object.entries(theirs).flatMap(([name, value]) =>
    name in ours ? missingIn((ours as Record<string, unknown>)[name], value, `${at}.${name}`) : [`${at}.${name}`],
  )
}

test.for(streams)('the stream of %s has the documented events and all of their fields', ([fixture, open, chunks]) => {
  const answer = open().openAnswer({ id: 'inv_1', model: 'm', created: 1_700_000_000 })
  const details = { prompt: { cached_tokens: 0 }, completion: { reasoning_tokens: 0 } }
  const text =
    chunks.map((choices) => answer.chunk(choices)).join('') +
    answer.end({ usage: { promptTokens: 3, completionTokens: 2, details }, chargedMicro: 5 })
  const ours = inRows([...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Event))
  const theirs = inRows(documented(fixture))
  expect(ours.map(({ type }) => type)).toEqual(theirs.map(({ type }) => type))
  expect(theirs.flatMap((event, n) => missingIn(ours[n], event, event.type))).toEqual([])
})
