import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { KEY_SECRET_PREFIX, makeSecret } from '@gateway/api/ids'
import { expect, onTestFinished } from 'vitest'
import { errorOf, stackTest as test } from '../stack.fixture.ts'

// The gateway checks the key before it reads a byte of the body (rules §2.3).

const forged = () => makeSecret(KEY_SECRET_PREFIX, randomBytes(32))

/** Sends the head of a request without its body. Returns everything the gateway sends until it closes. */
async function sendHead(url: string, path: string, secret: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  onTestFinished(() => void socket.destroy())
  socket.write(`POST ${path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer ${secret}\r\nContent-Length: 1000\r\n\r\n`)
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => (received += text))
  await once(socket, 'close')
  return received
}

test('refuses a forged key without waiting for the body, and closes the connection, at every path [key_invalid]', async ({
  tenant,
}) => {
  const paths = [
    '/v1/chat/completions',
    '/v1/key/check',
    '/v1/sandbox/sbx-1/invoke',
    '/v1/sandbox/sbx-1/estimate',
    '/v1/sandbox/sbx-1/mcp',
    '/v1/assets',
  ]
  const received = await Promise.all(paths.map((path) => sendHead(tenant.url, path, forged())))
  for (const [n, path] of paths.entries()) {
    expect([path, received[n]]).toEqual([path, expect.stringMatching(/^HTTP\/1\.1 401 /)])
    expect([path, received[n]]).toEqual([path, expect.stringContaining('key_invalid')])
  }
})

// spec: 4.5/r3
test('reports a revoked or legacy key before its headers and its malformed body [key_revoked] [key_unbound]', async ({
  tenant,
  fixture,
}) => {
  const legacy = await fixture.key({ project: null, tenant: tenant.owners.tenant, by: tenant.owners.owner })
  for (const [{ secret }, code] of [
    [await tenant.key({ revoked: true }), 'key_revoked'],
    [legacy, 'key_unbound'],
  ] as const)
    for (const path of ['/v1/chat/completions', '/v1/sandbox/sbx-1/invoke']) {
      const headers = { authorization: `Bearer ${secret}`, 'idempotency-key': 'short' }
      const answer = await fetch(tenant.url + path, { method: 'POST', headers, body: '{' })
      expect([path, await errorOf(answer)]).toMatchObject([path, { code }])
    }
})

test('refuses the next call of a cached key that has been revoked [key_revoked]', async ({ tenant, fixture }) => {
  const { secret, hash } = await tenant.key()
  const headers = { authorization: `Bearer ${secret}` }
  expect((await tenant.chat({}, { headers })).status).toBe(200)
  await fixture.run(`UPDATE control.keys SET revoked_at = now() WHERE hash = decode($1, 'hex')`, [hash])
  expect(await errorOf(await tenant.chat({}, { headers }))).toMatchObject({ code: 'key_revoked' })
})

test('refuses the next call of a cached key that has been paused, and answers the next one after it is resumed [key_paused]', async ({
  tenant,
  fixture,
}) => {
  const { secret, hash } = await tenant.key()
  const headers = { authorization: `Bearer ${secret}` }
  const outcome = async () => {
    const answer = await tenant.chat({}, { headers })
    return answer.status === 200 ? 200 : (await errorOf(answer)).code
  }
  const setPaused = (at: string) =>
    fixture.run(`UPDATE control.keys SET paused_at = ${at} WHERE hash = decode($1, 'hex')`, [hash])
  const outcomes = [await outcome()]
  await setPaused('now()')
  outcomes.push(await outcome())
  await setPaused('NULL')
  outcomes.push(await outcome())
  expect(outcomes).toEqual([200, 'key_paused', 200])
})
