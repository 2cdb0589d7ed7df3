import { rm } from 'node:fs/promises'
import { expect } from 'vitest'
import { liveTest as test } from '@gateway/testbed/live-test'
import { startInProcess } from '@gateway/testbed/service-in-process'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { openFixture } from '@gateway/testbed/fixture'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { callerOf, outcomeOf, untilBlocked } from '../console.fixture.ts'

test('responds with 503 while the database is down, and recovers when it returns [unavailable]', async ({
  postgresServer,
  onTestFinished,
}) => {
  const folder = await temporaryFolder('console')
  onTestFinished(() => rm(folder, { recursive: true }))
  const program = await startInProcess({
    name: 'console',
    service: 'console',
    folder,
    env: {
      DATABASE_URL: postgresServer.consoleUrl,
      LEDGER_URL: 'http://127.0.0.1:9',
      SERVICE_PRIVATE_KEY: newServiceKeys().privateKey,
      SECOND_FACTOR_KEY: 'k'.repeat(32),
    },
  })
  onTestFinished(program.stop)
  const fixture = await openFixture(postgresServer.adminUrl)
  onTestFinished(fixture.close)
  const user = await fixture.user({ platformOperator: true })
  const { secret } = await fixture.token(user)
  const caller = callerOf(program.url, user, secret)
  expect(outcomeOf(await caller.get('/api/v2/me'))).toBe('200')

  const asks = () => [
    caller.get('/api/v2/me'),
    caller.post('/api/v2/tenants', { name: 'New' }),
    caller.post('/api/v2/session', { email: 'a@example.test', password: 'a password' }),
  ]
  // These requests lose their connections while they wait for Postgres to respond.
  await fixture.run('BEGIN')
  await fixture.run('LOCK TABLE control.memberships, control.tenants, control.sign_in_attempts')
  const underWay = asks()
  await untilBlocked(fixture, underWay.length)
  await postgresServer.stopImmediately()
  const answers = await Promise.all([...underWay, ...asks()])
  expect(answers.map(outcomeOf)).toEqual(Array(6).fill('503 unavailable'))
  expect(JSON.stringify(answers.map(({ body }) => body))).not.toMatch(/prisma|postgres|127\.0\.0\.1/i)
  expect((await fetch(`${program.url}/health/ready`)).status).toBe(503)
  expect((await fetch(`${program.url}/health/live`)).status).toBe(200)

  await postgresServer.restart()
  await program.ready()
  expect(outcomeOf(await caller.post('/api/v2/tenants', { name: 'New' }))).toBe('201')
})
