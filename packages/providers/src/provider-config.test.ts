import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { describeProviders, readProviders } from './provider-config.ts'

const provider = { kind: 'openai-compatible', baseUrl: 'https://api.example.com/v1' }
const read = (given: object, environment = {}) =>
  readProviders(JSON.stringify({ main: { ...provider, ...given } }), environment)

test('fills in defaults', () => {
  expect(read({})).toEqual({
    main: {
      ...provider,
      allowPrivateAddress: false,
      imageFormatField: true,
      cacheControl: false,
      streamUsageField: true,
      toolCallIds: 'any',
      firstByteMs: 120_000,
      idleMs: 60_000,
      totalMs: 300_000,
      tries: 2,
      circuitFailures: 10,
      circuitOpenMs: 5_000,
      maxWaiting: 1_024,
    },
  })
})

test('reads the key from the named variable, the named file or the configuration', async ({ onTestFinished }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'provider-key-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'key')
  await writeFile(file, 'sk-3\n')
  expect(read({ apiKeyEnv: 'MAIN_KEY' }, { MAIN_KEY: 'sk-1' })['main']?.apiKey).toBe('sk-1')
  expect(read({ apiKey: 'sk-2' })['main']?.apiKey).toBe('sk-2')
  expect(read({ apiKeyFile: file })['main']?.apiKey).toBe('sk-3')
  expect(() => read({ apiKeyEnv: 'MAIN_KEY' })).toThrow('"main" takes its key from MAIN_KEY, which is not set')
  expect(() => read({ apiKeyFile: `${file}-not` })).toThrow('key-not, which cannot be read')
  await writeFile(file, ' \n')
  expect(() => read({ apiKeyFile: file })).toThrow('which is empty')
  expect(() => read({ apiKeyEnv: 'MAIN_KEY', apiKey: 'x' })).toThrow('give one of apiKey, apiKeyEnv')
})

test('rejects a key that is not a valid header value, without showing it', async () => {
  for (const canary of ['sk-canary\nx', 'sk-canary é', `sk-canary${'x'.repeat(5_000)}`]) {
    const text = (() => {
      try {
        return JSON.stringify(read({ apiKeyEnv: 'MAIN_KEY' }, { MAIN_KEY: canary }))
      } catch (error) {
        return String(error)
      }
    })()
    expect(text).toContain('holds no key')
    expect(text).not.toContain('canary')
  }
})

test('accepts only hosts in PROVIDER_ALLOWED_HOSTS, if set', () => {
  const allowed = (hosts: string) => () => read({}, { PROVIDER_ALLOWED_HOSTS: hosts })
  expect(allowed('api.other.com, API.example.com')).not.toThrow()
  expect(allowed('')).not.toThrow()
  for (const hosts of ['api.other.com', 'example.com', 'api.example.com:8443', 'api.example.com.evil.com'])
    expect(allowed(hosts)).toThrow('"main" is at api.example.com, which PROVIDER_ALLOWED_HOSTS does not list')
})

test('accepts the common settings for another kind and rejects settings it does not use', () => {
  const anthropic = { kind: 'anthropic', baseUrl: 'https://api.example.com/v1' }
  expect(read(anthropic)['main']).toMatchObject({ ...anthropic, tries: 2, totalMs: 300_000 })
  expect(() => read({ ...anthropic, capField: 'max_tokens' })).toThrow('capField')
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
  [{ tries: 0 }, 'tries'],
  [{ circuitFailures: 0 }, 'circuitFailures'],
  [{ kind: 'other' }, 'kind'],
  [{ timeout: 5 }, 'timeout'],
])('rejects %j with the reason', (given, says) => {
  expect(() => read(given)).toThrow(/^PROVIDERS is wrong/)
  expect(() => read(given)).toThrow(says)
})

test.each([
  ['[]', 'PROVIDERS is wrong: it must be an object.'],
  [JSON.stringify({ main: {} }), 'PROVIDERS is wrong: main.kind is missing, and must be one of "openai-compatible", '],
  [
    JSON.stringify({ main: { ...provider, kind: 'bedrock' } }),
    'PROVIDERS is wrong: main.region is missing, and must be a string.',
  ],
  [JSON.stringify({ main: { ...provider, timeout: 5 } }), 'PROVIDERS is wrong: main.timeout is not a known field.'],
  [
    JSON.stringify({ main: { ...provider, tries: 0, totalMs: '5' } }),
    'PROVIDERS is wrong: main.totalMs must be a number; main.tries must be at least 1.',
  ],
  [JSON.stringify({ main: { ...provider, apiKey: 12_345 } }), 'PROVIDERS is wrong: main.apiKey must be a string.'],
])('rejects %s with a single-sentence message', (text, says) => {
  expect(() => readProviders(text, {})).toThrow(says)
  expect(() => readProviders(text, {})).not.toThrow(/\n|Invalid|received|12345/)
})

test('allows private addresses and plain http with allowPrivateAddress', () => {
  expect(() => read({ baseUrl: 'http://127.0.0.1:8080/v1', allowPrivateAddress: true })).not.toThrow()
})

test('rejects an invalid provider name, and invalid JSON without quoting it', () => {
  expect(() => readProviders(JSON.stringify({ 'A B': provider }), {})).toThrow('lower-case')
  expect(() => readProviders('{"main": sk-canary', {})).toThrow(/^PROVIDERS is wrong: it is not JSON\.$/)
})

test('requires a valid region for Bedrock, and a valid apiVersion for Azure if set', () => {
  const bedrock = { kind: 'bedrock', baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com' }
  expect(read({ ...bedrock, region: 'us-east-1' })['main']).toMatchObject({ region: 'us-east-1' })
  expect(() => read(bedrock)).toThrow('region')
  expect(() => read({ ...bedrock, region: 'mars' })).toThrow('must be a region such as us-east-1')
  const azure = { kind: 'azure-openai', baseUrl: 'https://mine.openai.azure.com/openai' }
  expect(read({ ...azure, apiVersion: '2024-10-21' })['main']).toMatchObject({ apiVersion: '2024-10-21' })
  expect(() => read({ ...azure, apiVersion: 'newest' })).toThrow('must be a version such as 2024-10-21')
})

test('describes where the key of a provider is from, and never the key', async ({ onTestFinished }) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'provider-key-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'key')
  await writeFile(file, 'sk-canary')
  const providers = {
    inline: { ...provider, apiKey: 'sk-canary' },
    named: { ...provider, apiKeyEnv: 'MAIN_KEY' },
    filed: { ...provider, apiKeyFile: file },
    open: provider,
    bedrock: { ...provider, kind: 'bedrock', region: 'us-east-1' },
  }
  const described = describeProviders(readProviders(JSON.stringify(providers), { MAIN_KEY: 'sk-canary' }))
  expect(described.map(({ name, credential }) => `${name} ${credential}`)).toEqual([
    'inline configuration',
    'named environment',
    'filed file',
    'open none',
    'bedrock aws_chain',
  ])
  expect(described.map(({ credentialAt }) => credentialAt !== null)).toEqual([false, false, true, false, false])
  expect(JSON.stringify(described)).not.toContain('canary')
})
