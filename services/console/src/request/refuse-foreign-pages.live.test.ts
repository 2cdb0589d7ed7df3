import { expect } from 'vitest'
import { answerOf, consoleTest as test, outcomeOf } from '../console.fixture.ts'

const PASSWORD = 'correct horse battery'

test.for([
  ['Sec-Fetch-Site: cross-site', { 'Sec-Fetch-Site': 'cross-site' }],
  ['Sec-Fetch-Site: same-site', { 'Sec-Fetch-Site': 'same-site' }],
  ['a foreign Origin', { Origin: 'https://elsewhere.test' }],
  ['an Origin with another port', { Origin: 'http://127.0.0.1:1' }],
  ['an opaque Origin', { Origin: 'null' }],
] as const)(
  'rejects a write sent by a foreign page with %s [invalid_request]',
  async ([, headers], { console, signIn }) => {
    const Cookie = `svc_session=${(await signIn({ by: 'session' })).token}`
    const post = (path: string, body: object) =>
      fetch(console.url + path, { method: 'POST', headers: { ...headers, Cookie }, body: JSON.stringify(body) })
    expect(outcomeOf(await answerOf(await post('/api/v2/me/tokens', { name: 'theirs' })))).toBe('400 invalid_request')
    // A foreign page cannot sign a user in to an account it chose either.
    const session = await post('/api/v2/session', { email: 'a@example.test', password: PASSWORD })
    expect(outcomeOf(await answerOf(session))).toBe('400 invalid_request')
    expect((await fetch(`${console.url}/api/v2/me`, { headers: { ...headers, Cookie } })).status).toBe(200)
  },
)

test('accepts writes from the console page and from programs', async ({ console, signIn }) => {
  const { id, token } = await signIn({ platformOperator: true })
  const Cookie = `svc_session=${(await signIn({ id, by: 'session' })).token}`
  const Authorization = `Bearer ${token}`
  const { origin } = new URL(console.url)
  for (const headers of [
    { Cookie },
    { Cookie, 'Sec-Fetch-Site': 'same-origin' },
    { Cookie, Origin: origin },
    { Authorization, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://elsewhere.test' },
  ] as Record<string, string>[]) {
    const answer = await fetch(`${console.url}/api/v2/tenants`, { method: 'POST', headers, body: '{"name": "x"}' })
    expect(answer.status).toBe(201)
  }
  // No response allows a page of another site to read it, not even a preflight.
  const preflight = await fetch(`${console.url}/api/v2/me/tokens`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://elsewhere.test', 'Access-Control-Request-Method': 'POST' },
  })
  expect(preflight.headers.get('Access-Control-Allow-Origin')).toBeNull()
})
