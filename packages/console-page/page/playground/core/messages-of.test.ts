import { expect, test } from 'vitest'
import { newAnswer, type Answer, type Entry } from './conversation.ts'
import { messagesOf } from './messages-of.ts'

const user = (text: string, images: string[] = []): Entry => ({ kind: 'message', id: text, role: 'user', text, images })
const answers = (...columns: Partial<Answer>[]): Entry => ({
  kind: 'answers',
  id: 'answers',
  columns: columns.map((column) => ({ ...newAnswer('m'), ...column })),
})
const png = 'data:image/png;base64,AAAA'

test('each model receives the typed messages and only its own responses', () => {
  const entries = [user('Hello'), answers({ text: 'One' }, { text: 'Two' }), user('And?', [png])]
  const shared = [
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'Hello' },
  ]
  const last = {
    role: 'user',
    content: [
      { type: 'text', text: 'And?' },
      { type: 'image_url', image_url: { url: png } },
    ],
  }
  const of = (column: number) => messagesOf({ system: 'Be short.', entries }, column)
  expect(of(0)).toEqual([...shared, { role: 'assistant', content: 'One' }, last])
  expect(of(1)).toEqual([...shared, { role: 'assistant', content: 'Two' }, last])
})

test('sends tool calls with their results and omits empty responses', () => {
  const call = { id: 'c1', name: 'look', arguments: '{}', result: 'rain' }
  const entries = [user('Forecast?'), answers({ toolCalls: [call] }), answers({ text: '' })]
  expect(messagesOf({ system: ' ', entries }, 0)).toEqual([
    { role: 'user', content: 'Forecast?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'rain' },
  ])
})
