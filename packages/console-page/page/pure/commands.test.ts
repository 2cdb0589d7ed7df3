import { expect, test } from 'vitest'
import { firstCall, firstCallInPython } from './commands.ts'

test('the command is safe against whatever a model is called', () => {
  const command = firstCall('https://models.example.test', 'svc_1', `it's "so"`)
  expect(command).toContain(String.raw`it'\''s \"so\"`)
  expect(command).toMatch(/^curl 'https:\/\/models\.example\.test\/v1\/chat\/completions' \\\n/)
})

test('without a model the command lists them', () => {
  expect(firstCall('https://x.test', 'svc_1', undefined)).toContain("'https://x.test/v1/models'")
})

test('in Python every text is a literal', () => {
  expect(firstCallInPython('https://x.test', 'svc_1', 'a"b')).toContain(String.raw`model="a\"b"`)
})
