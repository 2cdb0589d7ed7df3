import { afterEach, expect, test, vi } from 'vitest'
import { openConsole } from './console.ts'
import { Gateway, newIdempotencyKey } from './gateway.ts'

afterEach(() => vi.unstubAllEnvs())

const url = 'https://gateway.example'

test.for<[string, string | undefined, string | undefined, () => unknown, string]>([
  ['an address', undefined, 'svc_1', () => new Gateway(), 'Set GATEWAY_URL, or pass baseURL: the URL of the gateway.'],
  ['a key', url, undefined, () => new Gateway(), 'Set GATEWAY_KEY, or pass apiKey: an API key of your project, svc_….'],
  ['a token', url, 'svc_1', () => openConsole(), 'Set GATEWAY_TOKEN, or pass token: a console token, svu_… or svt_….'],
  [
    'a scheme',
    'gateway.example',
    'svc_1',
    () => new Gateway(),
    'baseURL must start with https://, not gateway.example.',
  ],
  ...['https://', `${url}?a=1`, `${url}/#b`, 'https://me:secret@gateway.example'].map(
    (address): [string, string, string, () => unknown, string] => [
      'an address alone',
      address,
      'svc_1',
      () => new Gateway(),
      'baseURL must be an address like https://gateway.example, without ?, # or credentials.',
    ],
  ),
  ['a clean key', url, 'svc_1\n', () => new Gateway(), 'apiKey contains invalid characters.'],
])('without %s one sentence names the setting', ([, address, key, open, sentence]) => {
  vi.stubEnv('GATEWAY_URL', address)
  vi.stubEnv('GATEWAY_KEY', key)
  vi.stubEnv('GATEWAY_TOKEN', undefined)
  expect(open).toThrow(new TypeError(sentence))
})

test('address and key come from the options, or else from the environment', async () => {
  vi.stubEnv('GATEWAY_URL', `${url}/v1/`)
  vi.stubEnv('GATEWAY_KEY', 'svc_environment')
  const asked: [unknown, string | null][] = []
  const answer: typeof fetch = async (address, init) => {
    asked.push([address, new Headers(init?.headers).get('authorization')])
    return Response.json({})
  }
  await new Gateway({ fetch: answer }).key()
  await new Gateway({ fetch: answer, baseURL: 'http://127.0.0.1:8080', apiKey: 'svc_given' }).key()
  expect(asked).toEqual([
    [`${url}/v1/key`, 'Bearer svc_environment'],
    ['http://127.0.0.1:8080/v1/key', 'Bearer svc_given'],
  ])
})

test('newIdempotencyKey returns a valid key, different each time', () => {
  const keys = Array.from({ length: 100 }, newIdempotencyKey)
  expect(new Set(keys).size).toBe(100)
  for (const key of keys) expect(key).toMatch(/^[\x21-\x7e]{8,128}$/)
})
