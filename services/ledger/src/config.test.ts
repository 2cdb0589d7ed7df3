import { expect, test } from 'vitest'
import { type ConfigurationError, readConfig } from '@gateway/service-kit/process/config'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { ledgerConfig, publicKeysOf } from './config.ts'

const [gateway, worker, console, next] = [newServiceKeys(), newServiceKeys(), newServiceKeys(), newServiceKeys()]
const environment = {
  DATABASE_URL: 'postgresql://127.0.0.1/svc',
  REDIS_URL: 'redis://127.0.0.1',
  SERVICE_PUBLIC_KEYS_GATEWAY: gateway.publicKey,
  SERVICE_PUBLIC_KEYS_WORKER: worker.publicKey,
  SERVICE_PUBLIC_KEYS_CONSOLE: console.publicKey,
}

const problemsOf = (env: Record<string, string | undefined>) => {
  try {
    readConfig(ledgerConfig, env)
    return []
  } catch (error) {
    return (error as ConfigurationError).problems
  }
}

test('publicKeysOf returns the keys of each service, two while one is replaced', () => {
  const both = next.publicKey + gateway.publicKey
  expect(publicKeysOf(readConfig(ledgerConfig, { ...environment, SERVICE_PUBLIC_KEYS_GATEWAY: both }))).toEqual({
    gateway: both,
    worker: worker.publicKey,
    console: console.publicKey,
  })
})

test('the configuration rejects the private key of a service, and does not print it', () => {
  const problems = problemsOf({ ...environment, SERVICE_PUBLIC_KEYS_WORKER: worker.privateKey })
  expect(problems).toEqual([expect.stringMatching(/^SERVICE_PUBLIC_KEYS_WORKER .*expected one public Ed25519 key/)])
  expect(problems[0]).not.toContain(worker.privateKey.split('\n')[1])
})
