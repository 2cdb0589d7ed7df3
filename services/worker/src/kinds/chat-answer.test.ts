import { readChatRequest } from '@gateway/api/chat-request'
import { errorOfNode } from '@gateway/api/execution'
import { answerOf } from './product-chat.ts'
import { Refusal, type RefusalBody } from '@gateway/api/refusal'
import { expect, test } from 'vitest'

const node = { id: 'ask', kind: 'product.chat' }
const tool = { type: 'function', function: { name: 'forecast', parameters: { type: 'object', required: ['city'] } } }
const asked = (params: object) =>
  readChatRequest({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], ...params })

function refusalOf(answer: () => unknown): RefusalBody {
  try {
    answer()
  } catch (error) {
    if (error instanceof Refusal) return error.body
    throw error
  }
  throw new Error('it can be used')
}

test.each([
  [
    'a response that is not JSON',
    () =>
      answerOf(node, asked({ response_format: { type: 'json_object' } }), {
        role: 'assistant',
        content: 'Hm',
        refusal: null,
      }),
    'describe the object in the prompt',
  ],
  [
    'arguments that violate the schema',
    () =>
      answerOf(node, asked({ tools: [tool] }), {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'forecast', arguments: '{}' } }],
      }),
    'describe the tool and its parameters more closely',
  ],
  [
    'a number in an argument that JSON cannot represent',
    () =>
      answerOf(node, asked({ tools: [tool] }), {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [
          { id: 'c', type: 'function', function: { name: 'forecast', arguments: '{"city":"Bern","far":[1e400]}' } },
        ],
      }),
    'describe the tool and its parameters more closely',
  ],
  [
    'a number in a JSON response that JSON cannot represent',
    () =>
      answerOf(node, asked({ response_format: { type: 'json_object' } }), {
        role: 'assistant',
        content: '{"far":-1e400}',
        refusal: null,
      }),
    'describe the object in the prompt',
  ],
])('the node record says what its author can do about %s [node_failed]', (_, answer, way) => {
  const error = errorOfNode(refusalOf(answer), { startedBy: 'invoke', chargedMicro: 7 })
  expect(error.code).toBe('node_failed')
  expect(error.resolution).toContain(way)
  expect(error.message).toMatch(/This node was charged \$0\.000007\.$/)
  expect(error.message).not.toContain('Its answer is charged')
})

test('a call of a tool that the node does not have fails the node, even with valid arguments [node_failed]', () => {
  const call = { id: 'c', type: 'function' as const, function: { name: 'transfer', arguments: '{"city":"Bern"}' } }
  const message = { role: 'assistant' as const, content: 'I pay.', refusal: null, tool_calls: [call] }
  for (const params of [{ tools: [tool] }, {}]) {
    const error = refusalOf(() => answerOf(node, asked(params), message))
    expect([error.code, error.param]).toEqual(['node_failed', 'tools'])
    expect(error.message).toContain('called a tool "transfer", which the node does not have')
  }
})
