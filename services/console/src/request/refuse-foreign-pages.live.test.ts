import { expect } from 'vitest'
import { answerOf, consoleTest as test, outcomeOf } from '../console.fixture.ts'

const PASSWORD = 'correct horse battery'

test.for([
  ['Sec-Fetch-Site: cross-site', { 'Sec-Fetch-Site': 'cross-site' }],
  ['Sec-Fetch-Site: same-site', { 'Sec-Fetch-Site': 'same-site' }],
  ['a foreign Origin', { Origin: 'https://elsewhere.test' }],
  ['an Origin of another port', { Origin: 'http://127.0.0.1:1' }],
  ['no Origin it would name', { Origin: 'null' }],
] as const)(
  'what another page sends with %s changes nothing [invalid_request]',
  async ([, headers], { console, signIn }) => {
    const Cookie = `svc_session=${(await signIn()).token}`
    const post = (path: string, body: object) =>
      fetch(console.url + path, { method: 'POST', headers: { ...headers, Cookie }, body: JSON.stringify(body) })
    expect(outcomeOf(await answerOf(await post('/api/v2/me/tokens', { name: 'theirs' })))).toBe('400 invalid_request')
    // Nor does it sign anybody in to its own account choice.
    const session = await post('/api/v2/session', { email: 'a@example.test', password: PASSWORD })
    expect(outcomeOf(await answerOf(session))).toBe('400 invalid_request')
    expect((await fetch(`${console.url}/api/v2/me`, { headers: { ...headers, Cookie } })).status).toBe(200)
  },
)

test("what our own page sends, or a program, goes through; a foreign page can't send a token", async ({
  console,
  signIn,
}) => {
  const { token } = await signIn()
  const Cookie = `svc_session=${token}`
  const Authorization = `Bearer ${token}`
  const { origin } = new URL(console.url)
  for (const headers of [
    { Cookie },
    { Cookie, 'Sec-Fetch-Site': 'same-origin' },
    { Cookie, Origin: origin },
    { Authorization, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://elsewhere.test' },
  ] as Record<string, string>[]) {
    const answer = await fetch(`${console.url}/api/v2/me/tokens`, { method: 'POST', headers, body: '{"name": "x"}' })
    expect(answer.status).toBe(201)
  }
  // No answer lets a page of another site read it, or ask whether it may.
  const preflight = await fetch(`${console.url}/api/v2/me/tokens`, {
    method: 'OPTIONS',
    headers: { Origin: 'https://elsewhere.test', 'Access-Control-Request-Method': 'POST' },
  })
  expect(preflight.headers.get('Access-Control-Allow-Origin')).toBeNull()
})
