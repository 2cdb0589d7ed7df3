import { expect, test } from 'vitest'
import { ConfigurationError, readConfig } from '@gateway/service-kit/process/config'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { providersOf, workerConfig } from './config.ts'

const env = {
  LEDGER_URL: 'http://127.0.0.1:1',
  SERVICE_PRIVATE_KEY: newServiceKeys().privateKey,
  REDIS_URL: 'redis://127.0.0.1:2',
}

test('requires LEDGER_URL, SERVICE_PRIVATE_KEY and REDIS_URL, and has defaults for the rest', () => {
  expect(readConfig(workerConfig, env)).toMatchObject({ CONCURRENCY: 32, PROVIDERS: '{}' })
  expect(() => readConfig(workerConfig, {})).toThrow(/LEDGER_URL.*\n.*SERVICE_PRIVATE_KEY.*\n.*REDIS_URL/)
})

test('reports an invalid value without the secret it contains', () => {
  const wrong = { ...env, REDIS_URL: 'http://user:password@host', CONCURRENCY: '0' }
  expect(() => readConfig(workerConfig, wrong)).toThrow(/REDIS_URL.*redis:\/\/[^]*CONCURRENCY.*from 1 to 1000/)
  expect(() => readConfig(workerConfig, wrong)).not.toThrow(/password/)
})

test('reads providers with their API keys, and fails if a key is missing', () => {
  const PROVIDERS = JSON.stringify({
    one: { kind: 'openai-compatible', baseUrl: 'https://api.example.com/v1', apiKeyEnv: 'ONE_KEY' },
  })
  const config = readConfig(workerConfig, { ...env, PROVIDERS })
  expect(providersOf(config, { ONE_KEY: 'k' })['one']).toMatchObject({ apiKey: 'k' })
  expect(() => providersOf(config, {})).toThrow(ConfigurationError)
})

test('requires image memory for the largest chat of one project, which may use half of it', () => {
  expect(readConfig(workerConfig, env)).toMatchObject({ MAX_CONCURRENT_IMAGE_BYTES: 67_108_864 })
  expect(() => readConfig(workerConfig, { ...env, MAX_CONCURRENT_IMAGE_BYTES: '42991616' })).not.toThrow()
  expect(() => readConfig(workerConfig, { ...env, MAX_CONCURRENT_IMAGE_BYTES: '42991615' })).toThrow(
    /MAX_CONCURRENT_IMAGE_BYTES/,
  )
})
