import { expect, test } from 'vitest'
import { ConfigurationError, readConfig } from '@gateway/service-kit/process/config'
import { providersOf, workerConfig } from './config.ts'

const env = {
  LEDGER_URL: 'http://127.0.0.1:1',
  SERVICE_SECRET: 's'.repeat(32),
  REDIS_URL: 'redis://127.0.0.1:2',
}

test('a worker needs a ledger, its secret and a Redis, and has defaults for the rest', () => {
  expect(readConfig(workerConfig, env)).toMatchObject({ CONCURRENCY: 32, PROVIDERS: '{}' })
  expect(() => readConfig(workerConfig, {})).toThrow(/LEDGER_URL.*\n.*SERVICE_SECRET.*\n.*REDIS_URL/)
})

test('a wrong value is reported without what is secret in it', () => {
  const wrong = { ...env, REDIS_URL: 'http://user:password@host', CONCURRENCY: '0' }
  expect(() => readConfig(workerConfig, wrong)).toThrow(/REDIS_URL.*redis:\/\/[^]*CONCURRENCY.*from 1 to 1000/)
  expect(() => readConfig(workerConfig, wrong)).not.toThrow(/password/)
})

test('providers are read with their keys, and a wrong one stops the start', () => {
  const PROVIDERS = JSON.stringify({
    one: { kind: 'openai-compatible', baseUrl: 'https://api.example.com/v1', apiKeyEnv: 'ONE_KEY' },
  })
  const config = readConfig(workerConfig, { ...env, PROVIDERS })
  expect(providersOf(config, { ONE_KEY: 'k' })['one']).toMatchObject({ apiKey: 'k' })
  expect(() => providersOf(config, {})).toThrow(ConfigurationError)
})

test('memory for images has room for the largest chat of one project, which has half of it', () => {
  expect(readConfig(workerConfig, env)).toMatchObject({ MAX_CONCURRENT_IMAGE_BYTES: 67_108_864 })
  expect(() => readConfig(workerConfig, { ...env, MAX_CONCURRENT_IMAGE_BYTES: '44040192' })).not.toThrow()
  expect(() => readConfig(workerConfig, { ...env, MAX_CONCURRENT_IMAGE_BYTES: '44040191' })).toThrow(
    /MAX_CONCURRENT_IMAGE_BYTES/,
  )
})
