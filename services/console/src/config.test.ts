import { ConfigurationError, readConfig } from '@gateway/service-kit/process/config'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { expect, test } from 'vitest'
import { consoleConfig } from './config.ts'

const least = {
  DATABASE_URL: 'postgres://db',
  LEDGER_URL: 'http://ledger',
  SERVICE_PRIVATE_KEY: newServiceKeys().privateKey,
  SECOND_FACTOR_KEY: 'k'.repeat(32),
}
const provider = {
  PUBLIC_URL: 'https://models.example.com/',
  OIDC_ISSUER: 'https://id.example.com/realms/one/',
  OIDC_CLIENT_ID: 'console',
}

function problemsOf(more: Record<string, string>): readonly string[] {
  try {
    readConfig(consoleConfig, { ...least, ...more })
    return []
  } catch (error) {
    return (error as ConfigurationError).problems
  }
}

test('requires no sign-in provider settings if no provider is configured', () => {
  expect(problemsOf({})).toEqual([])
})

test('keeps the issuer exactly as configured, and removes the trailing slash of the public URL', () => {
  expect(readConfig(consoleConfig, { ...least, ...provider })).toMatchObject({
    PUBLIC_URL: 'https://models.example.com',
    OIDC_ISSUER: 'https://id.example.com/realms/one/',
  })
})

test.for([
  [{ OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID'],
  [{ PUBLIC_URL: '' }, 'PUBLIC_URL'],
  [{ PUBLIC_URL: 'https://models.example.com/console' }, 'PUBLIC_URL'],
  [{ PUBLIC_URL: 'models.example.com' }, 'PUBLIC_URL'],
  [{ OIDC_ISSUER: 'http://id.example.com' }, 'OIDC_ISSUER'],
  [{ OIDC_ISSUER: 'id.example.com' }, 'OIDC_ISSUER'],
] as const)('reports %j as one problem that names %s', ([more, name]) => {
  const problems = problemsOf({ ...provider, ...more })
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain(name)
})

test('allows a sign-in provider on localhost without https', () => {
  expect(problemsOf({ ...provider, OIDC_ISSUER: 'http://127.0.0.1:4000' })).toEqual([])
})

test('requires the {invocation} placeholder in TRACE_URL', () => {
  const search = 'https://traces.example.com/search?tags={"service.invocation":"{invocation}"}'
  expect(problemsOf({ TRACE_URL: search })).toEqual([])
  for (const TRACE_URL of ['https://traces.example.com', 'traces/{invocation}', 'javascript:alert("{invocation}")'])
    expect(problemsOf({ TRACE_URL })).toEqual([expect.stringMatching(/^TRACE_URL .*has \{invocation\} in it/)])
})
