import { expect, test } from 'vitest'
import { firstCall, firstCallInPython } from './commands.ts'

test('the curl command escapes quotes in a model name', () => {
  const command = firstCall('https://models.example.test', 'svc_1', `it's "so"`)
  expect(command).toContain(String.raw`it'\''s \"so\"`)
  expect(command).toMatch(/^curl 'https:\/\/models\.example\.test\/v1\/chat\/completions' \\\n/)
})

test('without a model, the curl command lists models', () => {
  expect(firstCall('https://x.test', 'svc_1', undefined)).toContain("'https://x.test/v1/models'")
})

test('the Python code escapes quotes in a model name', () => {
  expect(firstCallInPython('https://x.test', 'svc_1', 'a"b')).toContain(String.raw`model="a\"b"`)
})
