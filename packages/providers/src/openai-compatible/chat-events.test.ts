import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Delta } from '@gateway/api/chat-answer'
import { maxToolCalls } from '../chat-port.ts'
import { ErrorInAnswer, UnfitAnswer } from '../untrusted.ts'
import { openChatEvents, rebuildChunk, throwErrorInside } from './read-chat.ts'

const event = (delta: object, more: object = {}) =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })

const deltaOf = (read: ReturnType<typeof openChatEvents>, data: string) => {
  const chunk = read(data)
  return chunk === null || chunk === 'end' ? chunk : chunk.choices[0]?.delta
}

test('holds back role-only chunks and puts the role on the first chunk with content', () => {
  const read = openChatEvents()
  expect(read(event({ role: 'assistant', content: '' }))).toBeNull()
  expect(read(event({ content: '' }))).toBeNull()
  expect(read(JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 0 } }))).toBeNull()
  expect(deltaOf(read, event({ content: 'Hi' }))).toEqual({ role: 'assistant', content: 'Hi' })
  expect(deltaOf(read, event({ content: '' }))).toEqual({ content: '' })
})

test.each([
  [{ reasoning_content: 'hm' }, {}],
  [{ reasoning: 'hm' }, {}],
  [{ refusal: 'No' }, {}],
  [{ tool_calls: [{ index: 0, id: 'D681PevKs', type: 'function', function: { name: 'f', arguments: '' } }] }, {}],
  [{}, { finish_reason: 'stop' }],
])('treats %j %j as content', (delta, more) => {
  const read = openChatEvents()
  read(event({ role: 'assistant', content: null }))
  expect(deltaOf(read, event(delta, more))).toEqual({ role: 'assistant', ...delta })
})

test('reads contents that are lists of parts, and strings after them', () => {
  const read = openChatEvents()
  const part = (words: string) => ({ type: 'text', text: words })
  const thought = (words: string) => ({ type: 'thinking', thinking: [part(words)] })
  expect(read(event({ role: 'assistant', content: [] }))).toBeNull()
  expect(deltaOf(read, event({ content: [thought('H')] }))).toEqual({ role: 'assistant', reasoning_content: 'H' })
  expect(deltaOf(read, event({ content: [thought('m'), part('Ni')] }))).toEqual({
    reasoning_content: 'm',
    content: 'Ni',
  })
  for (const words of ['n', 'e', '.']) expect(deltaOf(read, event({ content: words }))).toEqual({ content: words })
  expect(deltaOf(read, event({ content: [part('!')] }))).toEqual({ content: '!' })
})

test('reads [DONE], an error event and invalid JSON', () => {
  const read = openChatEvents()
  expect(read('[DONE]')).toBe('end')
  expect(() => read('{"error":{"code":429}}')).toThrow(ErrorInAnswer)
  expect(() => read('{"choices":[')).toThrow(UnfitAnswer)
})

test.each(['error', 'insufficient_system_resource', 'abort', 'aborted', 'network_error'])(
  'reads the finish reason %s as an error, whole and in a stream',
  (reason) => {
    const read = openChatEvents()
    read(event({ content: 'Hi' }))
    expect(() => read(event({}, { finish_reason: reason }))).toThrow(ErrorInAnswer)
    const whole = { choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: reason }] }
    expect(() => throwErrorInside(whole)).toThrow(ErrorInAnswer)
  },
)

const [A, B, C] = ['call_aaaaaaaa', 'call_bbbbbbbb', 'call_cccccccc']
const whole = (id: string, more: object = {}) => ({ ...more, id, function: { name: 'f', arguments: '{}' } })
const more = (index: number, id?: string) => ({ index, ...(id !== undefined && { id }), function: { arguments: '1' } })

test.each<[string, object[][], number[]]>([
  ['with index 0 each', [[whole(A, { index: 0 })], [whole(B, { index: 0 })], [whole(C, { index: 0 })]], [0, 1, 2]],
  ['without an index', [[whole(A)], [whole(B)], [whole(C)]], [0, 1, 2]],
  ['without an index, two in an event', [[whole(A), whole(B)], [whole(C)]], [0, 1, 2]],
  ['with index 0, then 1', [[whole(A, { index: 0 })], [whole(B, { index: 0 })], [whole(C, { index: 1 })]], [0, 1, 2]],
  ['with their ID in every event', [[whole(A, { index: 0 })], [whole(A, { index: 0 })]], [0, 0]],
  ['whose ID comes late', [[more(0)], [whole(A, { index: 0 })], [whole(B, { index: 0 })]], [0, 0, 1]],
  ['that continue under another ID', [[whole(A, { index: 0 })], [more(0, B)], [more(0, '')]], [0, 0, 0]],
  [
    'that continue after the next one with that index',
    [[whole(A, { index: 0 })], [whole(B, { index: 0 })], [more(0)]],
    [0, 1, 1],
  ],
  [
    'that are interleaved',
    [[whole(A, { index: 0 })], [whole(B, { index: 1 })], [more(0)], [more(1)], [more(0), more(1)]],
    [0, 1, 0, 1, 0, 1],
  ],
])('numbers tool calls %s', (_, events, numbers) => {
  const read = openChatEvents()
  const deltas = events.map((calls) => deltaOf(read, event({ tool_calls: calls })))
  expect(deltas.flatMap((delta) => (delta as Delta).tool_calls!.map(({ index }) => index))).toEqual(numbers)
})

test.each([
  [{ id: '', function: { arguments: '1' } }, false],
  [{ id: '', function: { name: '', arguments: '1' } }, false],
  [{ id: '', function: { name: 'f', arguments: '1' } }, true],
  [{ id: A, function: { arguments: '1' } }, true],
])('reads an empty ID of a continued tool call as none: %j', (part, hasId) => {
  const delta = deltaOf(openChatEvents(), event({ tool_calls: [part] })) as Delta
  expect('id' in delta.tool_calls![0]!).toBe(hasId)
})

test('rejects more tool calls than fit in an answer, also if all have index 0', () => {
  const read = openChatEvents()
  for (let n = 0; n < maxToolCalls; n++) read(event({ tool_calls: [whole(`call_${n}`, { index: 0 })] }))
  expect(() => read(event({ tool_calls: [whole('one_more', { index: 0 })] }))).toThrow(UnfitAnswer)
})

/** Events as providers write them: with other fields around, with spaces, with fields that change, with other contents. */
const content = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[ a-zA-Zäß,.]{0,12}$/) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom('"', '\\', '\\"', '\n', '","content":"', '"}}]}') },
)
const said = fc.oneof(
  { weight: 8, arbitrary: content.map((words) => ({ delta: { content: words } })) },
  { weight: 1, arbitrary: content.map((words) => ({ delta: { role: 'assistant', content: words } })) },
  { weight: 1, arbitrary: content.map((words) => ({ delta: { content: words, reasoning: 'hm' } })) },
  { weight: 1, arbitrary: content.map((words) => ({ delta: { content: words }, logprobs: { content: [] } })) },
  { weight: 1, arbitrary: content.map((words) => ({ delta: { content: words }, finish_reason: 'stop' })) },
  { weight: 1, arbitrary: fc.constant({ delta: { content: null } }) },
  { weight: 1, arbitrary: content.map((words) => ({ delta: { content: [{ type: 'text', text: words }] } })) },
  { weight: 1, arbitrary: content.map((words) => ({ delta: { content: words, tool_calls: [whole(A)] } })) },
  {
    weight: 1,
    arbitrary: content.map((words) => ({ delta: { tool_calls: [{ ...more(0), function: { arguments: words } }] } })),
  },
)
const style = fc.record({
  id: fc.constantFrom('chatcmpl-1', '"content":"a"', 'x'),
  spaces: fc.boolean(),
  note: fc.constantFrom(null, 'before', 'after'),
  changes: fc.boolean(),
})

test('reads events with a known frame as it reads the first ones', () => {
  fc.assert(
    fc.property(style, fc.array(said, { minLength: 2, maxLength: 30 }), ({ id, spaces, note, changes }, all) => {
      const read = openChatEvents()
      read(event({ content: 'a' }))
      for (const [n, one] of all.entries()) {
        const other = { content: 'a', ...(changes && { n }) }
        const data = JSON.stringify(
          {
            id,
            ...(note === 'before' && { note: other }),
            choices: [{ index: 0, finish_reason: null, ...one }],
            ...(note === 'after' && { note: other }),
            usage: null,
          },
          null,
          spaces ? 1 : undefined,
        ).replaceAll('\n', '')
        expect(read(data)).toEqual(rebuildChunk(JSON.parse(data)))
      }
    }),
    { numRuns: 300 },
  )
})

test('parses no event whole once its frame is known, and keeps the frame through contents with escapes', () => {
  const read = openChatEvents()
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  for (const words of ['a', 'b', 'c']) read(event({ content: words }))
  parse.mockClear()
  for (let n = 0; n < 20; n++) expect(deltaOf(read, event({ content: `"\n${n}` }))).toEqual({ content: `"\n${n}` })
  expect(deltaOf(read, event({ content: 'e' }))).toEqual({ content: 'e' })
  expect(parse.mock.calls.map(([text]) => text)).toEqual(Array.from({ length: 20 }, (_, n) => `"\\"\\n${n}"`))
})
