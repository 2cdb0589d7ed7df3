import { expect, test } from 'vitest'
import { readChatRequest } from '@gateway/api/chat-request'
import { parameters, readParameters, shownParameters } from './parameters.ts'

const typed = {
  max_tokens: '50',
  temperature: ' 0.5 ',
  top_p: '1',
  seed: '-7',
  frequency_penalty: '-2',
  presence_penalty: '2',
  reasoning_effort: 'low',
  verbosity: 'high',
  stop: 'END\nSTOP',
  tools: '[{"type":"function","function":{"name":"look"}}]',
  tool_choice: '"auto"',
  response_format: '{"type":"json_object"}',
}

test('values within their ranges form a valid chat request', () => {
  const { values, faults } = readParameters(typed, parameters)
  expect([Object.keys(values), faults]).toEqual([Object.keys(typed), {}])
  const request = { model: 'm', messages: [{ role: 'user', content: 'Hello.' }], ...values }
  expect(() => readChatRequest(request)).not.toThrow()
})

test.each([
  ['max_tokens', '8193'],
  ['max_tokens', '1.5'],
  ['temperature', '2.1'],
  ['temperature', 'warm'],
  ['top_p', '0'],
  ['presence_penalty', '-2.5'],
  ['stop', 'a\nb\nc\nd\ne'],
  ['tools', '{}'],
  ['response_format', '[1'],
])('rejects %s = %j', (name, text) => {
  const { values, faults } = readParameters({ [name]: text }, parameters)
  expect([values, Object.keys(faults)]).toEqual([{}, [name]])
})

test('empty parameters are not sent, and unsupported parameters are not shown', () => {
  expect(readParameters({ temperature: '  ' }, parameters)).toEqual({ values: {}, faults: {} })
  expect(shownParameters(['temperature']).map(({ name }) => name)).toEqual(['max_tokens', 'temperature'])
})
