import { randomBytes } from 'node:crypto'
import { makeSecret, SHOWN_CHARACTERS, USER_TOKEN_PREFIX } from '@gateway/api/ids'
import { withDatabase, withLogin } from '@gateway/database/client'
import { ask } from '@gateway/testbed/ask'
import { liveTest } from '@gateway/testbed/live-test'
import { readConfig } from '@gateway/service-kit/process/config'
import { expect } from 'vitest'
import { jobConfig } from './config.ts'
import { prepare } from './prepare.ts'

const passwords = { ledger: 'l'.repeat(32), console: 'c'.repeat(32) }
const token = makeSecret(USER_TOKEN_PREFIX, randomBytes(32))

// The server's own login roles are shared by all tests, so this its own has a server.
liveTest('an empty server becomes ready, and stays as it is the second time', async ({ postgresServer }) => {
  const url = withDatabase(postgresServer.url, 'stack')
  const environment = {
    DATABASE_URL: url,
    LEDGER_DATABASE_PASSWORD: passwords.ledger,
    CONSOLE_DATABASE_PASSWORD: passwords.console,
    OPERATOR_EMAIL: 'First@Example.test',
    OPERATOR_TOKEN: token,
  }
  const said: string[] = []
  await prepare(readConfig(jobConfig, environment), (line) => said.push(line))
  expect(said).toContain('Added first@example.test as platform operator.')

  const again: string[] = []
  await prepare(readConfig(jobConfig, { ...environment, OPERATOR_EMAIL: 'second@example.test' }), (line) =>
    again.push(line),
  )
  expect(again).toContain('Nothing to migrate.')
  expect(again).toContain('A platform operator already exists.') // O1 of prepare.ts

  for (const service of ['ledger', 'console'] as const) {
    const login = withLogin(url, `svc_${service}_login`, passwords[service])
    expect(await ask(login, 'SELECT current_user AS me')).toEqual([{ me: `svc_${service}_login` }])
  }
  const rows = await ask(
    url,
    `SELECT email, platform_operator, expires_at < now() + interval '1 day' AS ends
       FROM control.users JOIN control.user_tokens ON user_id = users.id`,
  )
  // O2 of prepare.ts
  expect(rows).toEqual([{ email: 'first@example.test', platform_operator: true, ends: true }])
})

liveTest(
  'an only operator who never signed in gets another token for a day, and no one else does',
  async ({ postgresServer }) => {
    const url = withDatabase(postgresServer.url, 'operators')
    const newToken = () => makeSecret(USER_TOKEN_PREFIX, randomBytes(32))
    const prepareWith = async (email: string, operatorToken: string) => {
      const said: string[] = []
      const environment = { DATABASE_URL: url, OPERATOR_EMAIL: email, OPERATOR_TOKEN: operatorToken }
      await prepare(readConfig(jobConfig, environment), (line) => said.push(line))
      return said.at(-1)
    }
    const tokens = () => ask(url, 'SELECT prefix, expires_at > now() AS works FROM control.user_tokens')
    const [lost, second] = [newToken(), newToken()]
    const unused = 'A platform operator already exists. OPERATOR_TOKEN was not used.'

    await prepareWith('ops@example.test', lost)
    await ask(url, "UPDATE control.user_tokens SET expires_at = now() - interval '1 second'")
    expect(await prepareWith('ops@example.test', lost)).toBe(
      'The token of ops@example.test has expired. Make another with new-token, and run this job again.',
    )
    expect(await prepareWith('other@example.test', newToken())).toBe(unused)
    expect(await prepareWith('ops@example.test', second)).toBe(
      'ops@example.test has never signed in, and can do so with this token for a day.',
    )
    expect(await tokens()).toEqual([{ prefix: second.slice(0, SHOWN_CHARACTERS), works: true }])

    await ask(url, "UPDATE control.users SET password_hash = 'x'")
    expect(await prepareWith('ops@example.test', newToken())).toBe(unused)
    expect(await tokens()).toEqual([{ prefix: second.slice(0, SHOWN_CHARACTERS), works: true }])
  },
)

liveTest('a password without the other is a wrong configuration', () => {
  const environment = {
    DATABASE_URL: 'postgres://x',
    LEDGER_DATABASE_PASSWORD: passwords.ledger,
    OPERATOR_TOKEN: token,
  }
  expect(() => readConfig(jobConfig, environment)).toThrow(/CONSOLE_DATABASE_PASSWORD.*needs it[^]*OPERATOR_EMAIL/)
})
