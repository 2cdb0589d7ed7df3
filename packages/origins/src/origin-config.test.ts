import { expect, test } from 'vitest'
import { readOrigins } from './origin-config.ts'

const origin = { kind: 'openai-compatible', baseUrl: 'https://api.example.com/v1' }
const read = (given: object, environment = {}) =>
  readOrigins(JSON.stringify({ main: { ...origin, ...given } }), environment)

test('what is left out has a default', () => {
  expect(read({})).toEqual({
    main: {
      ...origin,
      allowPrivateAddress: false,
      capField: 'max_tokens',
      firstByteMs: 120_000,
      idleMs: 60_000,
      totalMs: 300_000,
      connections: 256,
    },
  })
})

test('a key comes from the variable that is named, or is given', () => {
  expect(read({ apiKeyEnv: 'MAIN_KEY' }, { MAIN_KEY: 'sk-1' })['main']?.apiKey).toBe('sk-1')
  expect(read({ apiKey: 'sk-2' })['main']?.apiKey).toBe('sk-2')
  expect(() => read({ apiKeyEnv: 'MAIN_KEY' })).toThrow('"main" takes its key from MAIN_KEY, which is not set')
  expect(() => read({ apiKeyEnv: 'MAIN_KEY', apiKey: 'x' })).toThrow('not both')
})

test.each([
  [{ baseUrl: 'http://api.example.com/v1' }, 'must be https'],
  [{ baseUrl: 'https://10.0.0.1/v1' }, 'private address'],
  [{ baseUrl: 'https://[::1]/v1' }, 'private address'],
  [{ baseUrl: 'https://2130706433/v1' }, 'private address'],
  [{ baseUrl: 'https://0x7f.1/v1' }, 'private address'],
  [{ baseUrl: 'https://user:pass@api.example.com' }, 'no user'],
  [{ baseUrl: 'https://api.example.com/v1?key=1' }, 'no user, password, query'],
  [{ baseUrl: 'ftp://api.example.com' }, 'http or https'],
  [{ totalMs: 300_001 }, 'totalMs'],
  [{ connections: 0 }, 'connections'],
  [{ kind: 'other' }, 'kind'],
  [{ timeout: 5 }, 'timeout'],
])('%j is refused and says why', (given, says) => {
  expect(() => read(given)).toThrow(/^ORIGINS is wrong/)
  expect(() => read(given)).toThrow(says)
})

test('private addresses and plain http are a choice', () => {
  expect(() => read({ baseUrl: 'http://127.0.0.1:8080/v1', allowPrivateAddress: true })).not.toThrow()
})

test('a wrong name is refused; text that is not JSON is not quoted', () => {
  expect(() => readOrigins(JSON.stringify({ 'A B': origin }), {})).toThrow('lower-case')
  expect(() => readOrigins('{"main": sk-canary', {})).toThrow(/^ORIGINS is wrong: it is not JSON\.$/)
})
