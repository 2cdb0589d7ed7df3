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

test('what is typed within the ranges is a request that passes every check of its shape', () => {
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
])('%s is not sent as %s', (name, text) => {
  const { values, faults } = readParameters({ [name]: text }, parameters)
  expect([values, Object.keys(faults)]).toEqual([{}, [name]])
})

test('nothing typed is nothing sent, and what a model does not take is not shown', () => {
  expect(readParameters({ temperature: '  ' }, parameters)).toEqual({ values: {}, faults: {} })
  expect(shownParameters(['temperature']).map(({ name }) => name)).toEqual(['max_tokens', 'temperature'])
})
