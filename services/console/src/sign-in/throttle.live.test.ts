import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { expect } from 'vitest'
import { openDatabase } from '@gateway/database/client'
import { startInProcess } from '@gateway/testbed/service-in-process'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { answerOf, consoleTest as test, outcomeOf, signInBy, uniqueAddress } from '../console.fixture.ts'
import { forgetAttempts } from './throttle.ts'

const PASSWORD = 'correct horse battery'

test('after 5 failed sign-ins even the right password has to wait [rate_limited]', async ({ console, stack }) => {
  const email = `tried.${stack.tenant}@example.test`
  await stack.owner.post(`${stack.path}/members`, { email, password: PASSWORD })
  const address = uniqueAddress()
  const signIn = async (password: string) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address }
    const body = JSON.stringify({ email, password })
    return answerOf(await fetch(`${console.url}/api/v2/session`, { method: 'POST', headers, body }))
  }
  for (let n = 0; n < 5; n++) expect(outcomeOf(await signIn('a guess'))).toBe('401 sign_in_failed')
  const answer = await signIn(PASSWORD)
  expect(outcomeOf(answer)).toBe('429 rate_limited')
  expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
})

test('counts failed sign-ins across replicas, and per email across addresses [rate_limited]', async ({
  console,
  database,
  folder,
  signIn,
  fixture,
  onTestFinished,
}) => {
  const env = {
    DATABASE_URL: database.consoleUrl,
    LEDGER_URL: 'http://127.0.0.1:9',
    SERVICE_PRIVATE_KEY: newServiceKeys().privateKey,
    SECOND_FACTOR_KEY: 'k'.repeat(32),
    TRUSTED_PROXIES: 'loopback',
  }
  const replica = await startInProcess({ name: 'console-replica', service: 'console', folder, env })
  onTestFinished(replica.stop)
  const email = `${(await signIn()).id}@example.test`
  const guess = (n: number, address: string) => signInBy([console, replica][n % 2]!.url, email, 'a guess', address)
  const fromOne = await Promise.all(Array.from({ length: 8 }, (_, n) => guess(n, '198.51.100.1')))
  expect(fromOne.filter(({ status }) => status === 401)).toHaveLength(5)
  expect(fromOne.filter(({ status }) => status === 429)).toHaveLength(3)
  // Many addresses: the limit is 50 guesses in ten minutes. The counter is set as if 49 had been made.
  const counted = `email:${createHash('sha256').update(email).digest('base64url')}`
  const { rowCount } = await fixture.run('UPDATE control.sign_in_attempts SET points = 49 WHERE key = $1', [counted])
  expect(rowCount).toBe(1)
  expect((await guess(0, '198.51.100.2')).status).toBe(401)
  expect((await guess(1, '198.51.100.3')).status).toBe(429)
  expect((await guess(0, '198.51.100.4')).status).toBe(429)
  const other = `${(await signIn()).id}@example.test`
  expect((await signInBy(replica.url, other, 'a guess', '198.51.100.250')).status).toBe(401)
})

test('believes no X-Forwarded-For of a peer that is not a trusted proxy [rate_limited]', async ({
  database,
  folder,
  signIn,
  onTestFinished,
}) => {
  const env = {
    DATABASE_URL: database.consoleUrl,
    LEDGER_URL: 'http://127.0.0.1:9',
    SERVICE_PRIVATE_KEY: newServiceKeys().privateKey,
    SECOND_FACTOR_KEY: 'k'.repeat(32),
  }
  const exposed = await startInProcess({ name: 'console-exposed', service: 'console', folder, env })
  onTestFinished(exposed.stop)
  const email = `${(await signIn()).id}@example.test`
  const guess = () => statusFrom('127.0.0.77', `${exposed.url}/api/v2/session`, { email, password: 'a guess' })
  const statuses = [await guess(), await guess(), await guess(), await guess(), await guess(), await guess()]
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
})

test('stores only hashes of the emails and addresses it counts', async ({ console, fixture }) => {
  await signInBy(console.url, 'counted@example.test', PASSWORD)
  const { rows } = await fixture.run('SELECT key FROM control.sign_in_attempts')
  expect(rows.length).toBeGreaterThanOrEqual(3)
  for (const { key } of rows) expect(key).toMatch(/^(both|email|address):[\w-]{43}$/)
})

test('deletes attempts one hour after they expire', async ({ database, fixture, onTestFinished }) => {
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
  onTestFinished(close)
  const add = `INSERT INTO control.sign_in_attempts (key, points, expire) VALUES ($1, 1, now() - $2::interval)`
  await fixture.run(add, ['test:old', '61 minutes'])
  await fixture.run(add, ['test:new', '59 minutes'])
  expect(await forgetAttempts({ prisma })).toBe(1)
  const { rows } = await fixture.run(`DELETE FROM control.sign_in_attempts WHERE key LIKE 'test:%' RETURNING key`)
  expect(rows).toEqual([{ key: 'test:new' }])
})

/** Posts from this address of the machine, and claims to be passed on from another one each time. */
async function statusFrom(localAddress: string, url: string, body: object): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress() }
  const sending = request(url, { method: 'POST', localAddress, headers }).end(JSON.stringify(body))
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode!
}
