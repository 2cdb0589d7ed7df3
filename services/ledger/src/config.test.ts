import { expect, test } from 'vitest'
import { ConfigurationError, readConfig } from '@gateway/service-kit/process/config'
import { ledgerConfig, serviceSecretsOf } from './config.ts'

const [gateway, worker, console, previous] = ['g', 'w', 'c', 'p'].map((letter) => letter.repeat(32))
const environment = {
  DATABASE_URL: 'postgresql://127.0.0.1/svc',
  REDIS_URL: 'redis://127.0.0.1',
  SERVICE_SECRET_GATEWAY: gateway,
  SERVICE_SECRET_WORKER: worker,
  SERVICE_SECRET_CONSOLE: console,
}

const problemsOf = (env: Record<string, string | undefined>) => {
  try {
    readConfig(ledgerConfig, env)
    return []
  } catch (error) {
    return (error as ConfigurationError).problems
  }
}

test('serviceSecretsOf returns the current secret of each service, and the previous one if it is set', () => {
  expect(serviceSecretsOf(readConfig(ledgerConfig, environment))).toEqual({
    gateway: [gateway],
    worker: [worker],
    console: [console],
  })
  const replacing = { ...environment, SERVICE_SECRET_GATEWAY_PREVIOUS: previous, SERVICE_SECRET_WORKER_PREVIOUS: '' }
  expect(serviceSecretsOf(readConfig(ledgerConfig, replacing))).toEqual({
    gateway: [gateway, previous],
    worker: [worker],
    console: [console],
  })
})

test('the configuration rejects a previous secret that equals the current one or is too short, without printing either', () => {
  expect(problemsOf({ ...environment, SERVICE_SECRET_WORKER_PREVIOUS: worker })).toEqual([
    'SERVICE_SECRET_WORKER_PREVIOUS (The previous secret of the worker service, also accepted during a rotation) is wrong: it is the same as SERVICE_SECRET_WORKER; it is the secret before that one, and is left out when none is replaced.',
  ])
  expect(problemsOf({ ...environment, SERVICE_SECRET_WORKER_PREVIOUS: 'short' })).toEqual([
    expect.stringMatching(/^SERVICE_SECRET_WORKER_PREVIOUS .* is wrong: expected at least 32 characters\.$/),
  ])
})
