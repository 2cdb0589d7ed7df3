import { once } from 'node:events'
import { request } from 'node:http'
import { expect } from 'vitest'
import { answerOf, consoleTest, outcomeOf, signInBy, uniqueAddress, untilBlocked } from '../console.fixture.ts'

// A console with few permits and connections. Requests are held by a lock in the database, so each count is exact.

const OF_USER = 8
/** Of six connections for ordinary requests. */
const CONNECTIONS_OF_USER = 3
const test = consoleTest
  .extend('settings', { scope: 'file' }, () => ({
    console: {
      MAX_CONCURRENT_REQUESTS: '16',
      MAX_CONCURRENT_REQUESTS_PER_USER: String(OF_USER),
      MAX_CONCURRENT_REQUESTS_PER_TENANT: '5',
      DATABASE_CONNECTIONS: '8',
    },
  }))
  /** Locks a table that reads of notices use until it is released. */
  .extend('hold', ({ fixture }) => async () => {
    await fixture.run('BEGIN')
    await fixture.run('LOCK TABLE money.notices IN ACCESS EXCLUSIVE MODE')
    return () => fixture.run('ROLLBACK')
  })
  /** Sends a request without its body, until the console has begun to handle it. Returns what ends it. */
  .extend(
    'withhold',
    ({ console }) =>
      async ({ path, address, bytes }: { path: string; address: string; bytes: number }) => {
        const headers = { 'X-Forwarded-For': address, 'Content-Length': bytes, Expect: '100-continue' }
        const withheld = request(console.url + path, { method: 'POST', headers }).on('error', () => {})
        withheld.flushHeaders()
        await once(withheld, 'continue')
        return () => void withheld.destroy()
      },
  )

test('refuses a user beyond their requests, says what clears it, and leaves connections to a neighbor [overloaded]', async ({
  stack,
  hold,
  fixture,
}) => {
  const { owner, projectPath } = stack
  const neighbor = await stack.member({ project: 'Project Consumer' })
  expect(outcomeOf(await owner.get('/api/v2/me'))).toBe('200')
  const release = await hold()
  const held = Array.from({ length: OF_USER }, () => owner.get(`${projectPath}/notices`))
  await untilBlocked(fixture, CONNECTIONS_OF_USER)
  const refused = await owner.get('/api/v2/me')
  expect(outcomeOf(refused)).toBe('503 overloaded')
  expect(refused.headers.get('Retry-After')).toBe('1')
  expect(refused.body.error.resolution).toBe('Wait until one of them is answered, then send this request again.')
  expect(outcomeOf(await neighbor.get(`${projectPath}/wallet`))).toBe('200')
  await release()
  expect((await Promise.all(held)).map(outcomeOf)).toEqual(Array(OF_USER).fill('200'))
  expect(outcomeOf(await owner.get('/api/v2/me'))).toBe('200')
})

test('keeps the permit of a request whose client has disconnected until its work is done [overloaded]', async ({
  stack,
  hold,
  fixture,
  console,
}) => {
  const { owner, projectPath } = stack
  expect(outcomeOf(await owner.get('/api/v2/me'))).toBe('200')
  const release = await hold()
  const clients = new AbortController()
  const held = Array.from({ length: OF_USER }, () =>
    fetch(`${console.url}${projectPath}/notices`, {
      headers: { Authorization: `Bearer ${owner.token}` },
      signal: clients.signal,
    }).catch(() => {}),
  )
  await untilBlocked(fixture, CONNECTIONS_OF_USER)
  clients.abort()
  await Promise.all(held)
  expect(outcomeOf(await owner.get('/api/v2/me'))).toBe('503 overloaded')
  await release()
  await expect.poll(async () => outcomeOf(await owner.get('/api/v2/me'))).toBe('200')
})

test('refuses the users of a busy organization, and neither another organization nor a stranger who names it [overloaded]', async ({
  stack,
  hold,
  fixture,
  signIn,
}) => {
  const { owner, projectPath, path } = stack
  const member = await stack.member({ project: 'Project Consumer' })
  const stranger = await signIn()
  for (const user of [owner, member]) expect(outcomeOf(await user.get(`${projectPath}/wallet`))).toBe('200')
  expect(outcomeOf(await stranger.get(`${projectPath}/wallet`))).toBe('404 not_found')
  const release = await hold()
  const held = [owner, owner, owner, member, member].map((user) => user.get(`${projectPath}/notices`))
  await untilBlocked(fixture, 5)
  const refused = await member.get(`${path}/projects`)
  expect(outcomeOf(refused)).toBe('503 overloaded')
  expect(refused.body.error.message).toContain('organization')
  expect(outcomeOf(await member.get('/api/v2/me'))).toBe('200')
  expect(outcomeOf(await stranger.get(`${projectPath}/wallet`))).toBe('404 not_found')
  await release()
  expect((await Promise.all(held)).map(outcomeOf)).toEqual(Array(5).fill('200'))
})

test('revokes a key, deletes a token and removes a member while other requests hold all connections', async ({
  stack,
  hold,
  fixture,
}) => {
  const { owner, projectPath, path } = stack
  const members = await Promise.all(Array.from({ length: 4 }, () => stack.member({ project: 'Project Consumer' })))
  const key = await fixture.key({
    project: { id: stack.project, tenant: stack.tenant, team: stack.team },
    by: owner.id,
  })
  const { id: token } = await fixture.token(owner.id)
  for (const user of [owner, ...members]) expect(outcomeOf(await user.get('/api/v2/me'))).toBe('200')
  const release = await hold()
  // The console has six connections for them.
  const held = [...Array<typeof owner>(OF_USER).fill(owner), ...members].map((user) =>
    user.get(`${projectPath}/notices`),
  )
  await untilBlocked(fixture, 6)
  expect(outcomeOf(await owner.get('/api/v2/me'))).toBe('503 overloaded')
  expect(outcomeOf(await owner.post(`${path}/keys/${key.id}/revoke`))).toBe('200')
  expect(outcomeOf(await owner.delete(`/api/v2/me/tokens/${token}`))).toBe('204')
  expect(outcomeOf(await owner.delete(`${path}/members/${members[0]!.id}`))).toBe('200')
  await release()
  await Promise.all(held)
})

test.for([
  ['/api/v2/session', 100],
  ['/api/v2/leaked-secrets', 100],
  ['/api/v2/leaked-secrets', 60_000],
] as const)(
  'signs a user in while other addresses withhold the bodies of their requests to %s, of %i bytes',
  async ([path, bytes], { console, signIn, withhold, onTestFinished }) => {
    const user = await signIn()
    const password = 'correct horse battery'
    expect(outcomeOf(await user.put('/api/v2/me/password', { password }))).toBe('204')
    for (const address of Array.from({ length: 4 }, uniqueAddress))
      for (let n = 0; n < 4; n++) onTestFinished(await withhold({ path, address, bytes }))
    expect(outcomeOf(await answerOf(await signInBy(console.url, `${user.id}@example.test`, password)))).toBe('201')
  },
)

test('limits larger reports of one address that are still arriving, and no small ones [overloaded]', async ({
  console,
  withhold,
  onTestFinished,
}) => {
  const report = async (address: string, source: string) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': address }
    const body = JSON.stringify({ token: 'unknown', source })
    return answerOf(await fetch(`${console.url}/api/v2/leaked-secrets`, { method: 'POST', headers, body }))
  }
  const address = uniqueAddress()
  const larger = 'x'.repeat(10_000)
  expect(outcomeOf(await report(address, larger))).toBe('200')
  for (let n = 0; n < 52; n++)
    onTestFinished(await withhold({ path: '/api/v2/leaked-secrets', address, bytes: larger.length }))
  expect(outcomeOf(await report(address, larger))).toBe('503 overloaded')
  expect(outcomeOf(await report(address, 'commit'))).toBe('200')
  expect(outcomeOf(await report(uniqueAddress(), larger))).toBe('200')
})
