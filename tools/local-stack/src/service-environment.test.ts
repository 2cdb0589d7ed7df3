import { expect, test } from 'vitest'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { serviceEnvironments } from './service-environment.ts'

const services = { gateway: newServiceKeys(), worker: newServiceKeys(), console: newServiceKeys() }

function environmentsOn(host: string) {
  return serviceEnvironments({
    host,
    ports: { provider: 1, ledger: 2, console: 3, worker: 4, gateway: 5 },
    metricsPorts: { ledger: 6, console: 7, worker: 8, gateway: 9 },
    secrets: {
      services,
      databaseRoles: { ledger: '', console: '' },
      redis: '',
      secondFactors: 'f'.repeat(32),
      capture: 'c'.repeat(32),
      webhooks: 'w'.repeat(32),
    },
    ledgerDatabaseUrl: 'postgres://ledger',
    consoleDatabaseUrl: 'postgres://console',
    redisUrl: 'redis://redis',
    assetsFolder: '/assets',
    providers: {},
    providerKeys: {},
    logLevel: 'info',
    otlpEndpoint: undefined,
  })
}

test('each service gets its own private key, and the ledger the public keys alone', () => {
  const environments = environmentsOn('127.0.0.1')
  for (const service of ['gateway', 'worker', 'console'] as const) {
    const { privateKey } = services[service]
    const holders = Object.entries(environments).filter(([, env]) => Object.values(env).includes(privateKey))
    expect(holders.map(([name]) => name)).toEqual([service])
  }
})

test.each([
  ['127.0.0.1', 'true'],
  ['::1', 'true'],
  ['0.0.0.0', 'false'],
  ['192.168.0.7', 'false'],
])('a gateway on %s may have webhooks at private addresses: %s', (host, expected) => {
  expect(environmentsOn(host).ledger['WEBHOOK_PRIVATE_ADDRESSES']).toBe(expected)
})
