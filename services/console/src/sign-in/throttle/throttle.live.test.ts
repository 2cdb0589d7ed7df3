import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { expect } from 'vitest'
import { openDatabase } from '@gateway/database/client'
import { startInProcess } from '@gateway/testbed/service-in-process'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import {
  type Answer,
  answerOf,
  type Caller,
  consoleTest,
  outcomeOf,
  signInBy,
  uniqueAddress,
} from '../../console.fixture.ts'
import { addressBlock } from '@gateway/service-kit/http/connections'
import { openPasswords } from '../password.ts'
import { signIn as signInHandler } from '../sessions.ts'
import { forgetAttempts, openThrottle } from './throttle.ts'

const PASSWORD = 'correct horse battery'

interface Device {
  /** As the browser sends it. */
  cookie: string
}

const test = consoleTest
  .extend(
    'ask',
    ({ console }) =>
      async (email: string, password: string, { address = uniqueAddress(), cookie = '' } = {}) => {
        const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address, Cookie: cookie }
        const body = JSON.stringify({ email, password })
        return answerOf(await fetch(`${console.url}/api/v2/session`, { method: 'POST', headers, body }))
      },
  )
  /** A user with a password, and a device on which they have signed in. */
  .extend('owner', async ({ signIn, ask }): Promise<Caller & Device & { email: string }> => {
    const user = await signIn()
    const email = `${user.id}@example.test`
    expect(outcomeOf(await user.put('/api/v2/me/password', { password: PASSWORD }))).toBe('204')
    return { ...user, email, cookie: deviceOf(await ask(email, PASSWORD)) }
  })

function deviceOf({ headers }: { headers: Headers }): string {
  const cookie = headers.getSetCookie().find((each) => each.startsWith('svc_device='))
  expect(cookie).toMatch(/^svc_device=[\w-]{43}; Max-Age=15552000; Path=\/; .*HttpOnly; SameSite=Strict$/)
  return cookie!.split(';')[0]!
}

const hidden = (text: string) => createHash('sha256').update(text).digest('base64url')

test('after 5 failures from an address each further one doubles the wait there, and not elsewhere [rate_limited]', async ({
  owner,
  ask,
  fixture,
}) => {
  const address = uniqueAddress()
  for (let n = 0; n < 5; n++)
    expect(outcomeOf(await ask(owner.email, 'a guess', { address }))).toBe('401 sign_in_failed')
  const pair = `both:${hidden(`${addressBlock(address)} ${owner.email}`)}`
  const { rowCount } = await fixture.run('UPDATE control.sign_in_failures SET level = 12, at = now() WHERE key = $1', [
    pair,
  ])
  expect(rowCount).toBe(1)
  const later = await ask(owner.email, PASSWORD, { address })
  expect([outcomeOf(later), later.headers.get('x-should-retry')]).toEqual(['429 rate_limited', 'false'])
  expect(Number(later.headers.get('Retry-After'))).toBeGreaterThan(60) // the true time, above the 30 s of others
  expect(outcomeOf(await ask(owner.email, PASSWORD))).toBe('201')
})

test('a sign-in that is refused before its password is compared changes no wait [overloaded]', async ({
  database,
  fixture,
  owner,
  ask,
  onTestFinished,
}) => {
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
  onTestFinished(close)
  const address = uniqueAddress()
  const now = () => new Date()
  const deps = {
    prisma,
    now,
    throttle: openThrottle({ prisma, now, maxRequests: 1_000 }),
    passwords: openPasswords({ random: (bytes) => new Uint8Array(bytes), permits: 0, maxWaiting: 0 }), // as full as it can be
  }
  const call = { req: { ip: address, get: () => undefined }, body: async () => ({ email: owner.email, password: 'x' }) }
  const whenFull = () =>
    expect(signInHandler(deps as never)(call as never, {} as never)).rejects.toMatchObject({ code: 'overloaded' })
  // The bucket of the email drains as time passes, so its level is another one each time.
  const failures = async () =>
    (
      await fixture.run(
        `SELECT key, level, at FROM control.sign_in_failures WHERE level > 0 AND key NOT LIKE 'email:%' ORDER BY key`,
      )
    ).rows
  const before = await failures()
  for (let n = 0; n < 6; n++) await whenFull()
  expect(await failures()).toEqual(before)
  for (let n = 0; n < 5; n++) expect(outcomeOf(await ask(owner.email, 'wrong', { address }))).toBe('401 sign_in_failed')
  await fixture.run(`UPDATE control.sign_in_failures SET at = at - interval '20 minutes'`)
  const waited = await failures()
  await whenFull() // the sixth failure would begin a wait
  expect(await failures()).toEqual(waited)
  expect(outcomeOf(await ask(owner.email, PASSWORD, { address }))).toBe('201')
})

test.for([
  ['first', 'second'],
  ['second', 'first'],
] as const)(
  'of two attempts at a time, withdrawing the %s and then the %s changes no wait',
  async ([one], { database, fixture, onTestFinished }) => {
    const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
    onTestFinished(close)
    const throttle = openThrottle({ prisma, now: () => new Date(), maxRequests: 1_000 })
    const user = fixture.id('usr')
    await throttle.attemptOf(user)
    const counters = async () =>
      (await fixture.run('SELECT key, level, at FROM control.sign_in_failures WHERE level > 0 ORDER BY key')).rows
    const before = await counters()
    const [first, second] = [await throttle.attemptOf(user), await throttle.attemptOf(user)]
    for (const attempt of one === 'first' ? [first, second] : [second, first]) await attempt.withdrawn()
    expect(await counters()).toEqual(before)
  },
)

test('counts failures across replicas, and lets parallel guesses gain nothing [rate_limited]', async ({
  console,
  database,
  folder,
  owner,
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
  const guess = (n: number) => signInBy([console, replica][n % 2]!.url, owner.email, 'a guess', '198.51.100.1')
  const statuses = (await Promise.all(Array.from({ length: 12 }, (_, n) => guess(n)))).map(({ status }) => status)
  const admitted = statuses.filter((status) => status === 401).length
  expect(admitted).toBeGreaterThanOrEqual(5)
  expect(admitted).toBeLessThan(8) // 8 guesses take at least 3 seconds
})

test.for([
  ['one address', (): string => '198.51.100.77'],
  ['200 addresses', uniqueAddress],
] as const)(
  '200 wrong passwords from %s delay neither a known device nor a new one elsewhere, and end the guessing [rate_limited]',
  async ([, addressOf], { owner, ask }) => {
    const used = Array.from({ length: 200 }, addressOf)
    const guess = async (address: string): Promise<string> => outcomeOf(await ask(owner.email, 'a guess', { address }))
    for (let n = 0; n < 200; n += 10)
      for (const outcome of await Promise.all(used.slice(n, n + 10).map(guess)))
        expect(outcome).toMatch(/^(401 sign_in_failed|429 rate_limited)$/)
    expect(outcomeOf(await ask(owner.email, PASSWORD, { cookie: owner.cookie, address: used[0]! }))).toBe('201')
    expect(outcomeOf(await ask(owner.email, PASSWORD))).toBe('201')
    // Each address has a second try at most; one alone has four an hour.
    const addresses = new Set(used.slice(0, 20))
    for (const address of addresses) await guess(address)
    for (const address of addresses) expect(await guess(address)).toBe('429 rate_limited')
  },
)

test('a known device is the one of its user, up to 10, and waits for its own failures [rate_limited]', async ({
  owner,
  ask,
  signIn,
  fixture,
}) => {
  const other = await signIn()
  await other.put('/api/v2/me/password', { password: PASSWORD })
  const theirs = deviceOf(await ask(`${other.id}@example.test`, PASSWORD))
  // Under attack, all new devices wait.
  await fixture.run(
    `INSERT INTO control.sign_in_failures VALUES ($1, 600, now()) ON CONFLICT (key) DO UPDATE SET level = 600, at = now()`,
    [`email:${hidden(owner.email)}`],
  )
  for (const cookie of ['', theirs, `svc_device=${'x'.repeat(43)}`, 'svc_device=x'])
    expect(outcomeOf(await ask(owner.email, PASSWORD, { cookie }))).toBe('429 rate_limited')
  const { cookie } = owner
  const known = await ask(owner.email, PASSWORD, { cookie })
  expect([outcomeOf(known), deviceOf(known)]).toEqual(['201', cookie])
  expect(await failuresUntilRefused(() => ask(owner.email, 'a guess', { cookie }))).toBeGreaterThanOrEqual(10)

  await fixture.run(`DELETE FROM control.sign_in_failures WHERE key = $1`, [`email:${hidden(owner.email)}`])
  for (let n = 0; n < 11; n++) expect(outcomeOf(await ask(owner.email, PASSWORD))).toBe('201')
  const { rows } = await fixture.run('SELECT hash FROM control.known_devices WHERE user_id = $1', [owner.id])
  expect(rows).toHaveLength(10)
})

test("a device of two users is known to both, and the first user's secret is kept", async ({ owner, ask, signIn }) => {
  const other = await signIn()
  await other.put('/api/v2/me/password', { password: PASSWORD })
  expect(deviceOf(await ask(`${other.id}@example.test`, PASSWORD, { cookie: owner.cookie }))).toBe(owner.cookie)
  const planted = `svc_device=${'x'.repeat(43)}`
  expect(deviceOf(await ask(owner.email, PASSWORD, { cookie: planted }))).not.toBe(planted)
})

test('a signed-in user changes the password regardless of what strangers have tried, and waits only for their own failures [rate_limited]', async ({
  owner,
  ask,
  signIn,
}) => {
  for (let n = 0; n < 25; n++) await ask(owner.email, 'a guess')
  const change = async (current: string) => {
    const caller = await signIn({ id: owner.id, by: 'session' }) // a change ends what came before
    return caller.put('/api/v2/me/password', { password: PASSWORD, current })
  }
  expect(outcomeOf(await change(PASSWORD))).toBe('204')
  expect(await failuresUntilRefused(() => change('a guess'))).toBeGreaterThanOrEqual(10)
})

test('80 connections that guess without pause, each for another email, are served after the user who signs in', async ({
  owner,
  ask,
  fixture,
}) => {
  const addresses = Array.from({ length: 80 }, uniqueAddress)
  for (const address of addresses)
    await fixture.run(`INSERT INTO control.sign_in_failures VALUES ($1, 5, now())`, [
      `failed:${hidden(addressBlock(address))}`,
    ])
  let guesses = 0
  let isOver = false
  const attack = addresses.map(async (address) => {
    while (!isOver)
      if ((await ask(`guessed.${address}@example.test`.replaceAll(':', '-'), 'a guess', { address })).status === 401)
        guesses++
  })
  await expect.poll(() => guesses).toBeGreaterThan(20)
  for (const cookie of [owner.cookie, '']) {
    const before = guesses
    expect(outcomeOf(await ask(owner.email, PASSWORD, { cookie }))).toBe('201')
    expect(guesses - before).toBeLessThan(60) // first come, first served, it would be 80 and more
  }
  isOver = true
  await Promise.all(attack)
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
  const statuses: number[] = []
  while (statuses.at(-1) !== 429 && statuses.length < 15)
    statuses.push(await statusFrom('127.0.0.77', `${exposed.url}/api/v2/session`, { email, password: 'a guess' }))
  expect(statuses.at(-1)).toBe(429)
})

test('stores only hashes of the emails and addresses it counts', async ({ console, fixture }) => {
  await signInBy(console.url, 'counted@example.test', PASSWORD)
  const { rows } = await fixture.run(
    'SELECT key FROM control.sign_in_attempts UNION ALL SELECT key FROM control.sign_in_failures',
  )
  expect(rows.length).toBeGreaterThanOrEqual(4)
  for (const { key } of rows) expect(key).toMatch(/^(both|email|failed|device|user|address|mail):[\w-]{43}$/)
})

test('deletes counts once they delay no one', async ({ database, fixture, onTestFinished }) => {
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1 })
  onTestFinished(close)
  await forgetAttempts({ prisma })
  for (const [key, age] of Object.entries({ 'test:old': '73 hours', 'test:new': '71 hours' })) {
    await fixture.run(`INSERT INTO control.sign_in_failures VALUES ($1, 1, now() - $2::interval)`, [key, age])
    const expired = age.replace(' hours', ' minutes').replace('73', '61').replace('71', '59')
    await fixture.run(`INSERT INTO control.sign_in_attempts VALUES ($1, 1, now() - $2::interval)`, [key, expired])
  }
  expect(await forgetAttempts({ prisma })).toBe(2)
  for (const table of ['sign_in_failures', 'sign_in_attempts']) {
    const { rows } = await fixture.run(`DELETE FROM control.${table} WHERE key LIKE 'test:%' RETURNING key`)
    expect(rows).toEqual([{ key: 'test:new' }])
  }
})

/** The number of failures before a wait, which grows until a guess comes too early. */
async function failuresUntilRefused(guess: () => Promise<Answer>): Promise<number> {
  for (let failures = 0; failures < 20; failures++) {
    const outcome = outcomeOf(await guess())
    if (outcome === '429 rate_limited') return failures
    expect(outcome).toBe('401 sign_in_failed')
  }
  throw new Error('no guess was refused')
}

/** Posts from this address of the machine, and claims to be passed on from another one each time. */
async function statusFrom(localAddress: string, url: string, body: object): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress() }
  const sending = request(url, { method: 'POST', localAddress, headers }).end(JSON.stringify(body))
  const [answer] = (await once(sending, 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode!
}
