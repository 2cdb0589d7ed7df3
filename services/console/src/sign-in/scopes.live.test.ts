import { expect } from 'vitest'
import type { ApiRoute } from '@gateway/api/api-route'
import { consoleRoutes } from '@gateway/api/console-routes'
import { holdsScope } from '@gateway/api/console/scopes'
import { allScopes } from '@gateway/testbed/fixture'
import { callerOf, consoleTest as test, outcomeOf } from '../console.fixture.ts'

const rows = Object.values<ApiRoute>(consoleRoutes).filter(({ by }) => by !== 'anyone')
const sessionRows = rows.filter(({ scopes }) => scopes === 'session')
const scopedRows = rows.filter((row): row is ApiRoute & { scopes: readonly string[] } => {
  if (row.scopes === undefined) throw new Error(`${row.method} ${row.path} says nothing of scopes`)
  return row.scopes !== 'session' && row.scopes.length > 0
})

test.for(scopedRows.map((row) => [`${row.method} ${row.path}`, row] as const))(
  '%s is refused to a personal token that has every other scope [scope_missing]',
  async ([, { method, path, scopes }], { console, fixture }) => {
    const user = await fixture.user({ platformOperator: true })
    for (const needed of scopes) {
      const others = allScopes.flatMap((scope) => [scope, scope.replace(':write', ':read')])
      const held = others.filter((scope) => !holdsScope([scope], needed as 'operator'))
      const { secret } = await fixture.token(user, { scopes: held as typeof allScopes })
      const answer = await fetch(console.url + path.replaceAll(/\{\w+\}/g, 'x'), {
        method,
        headers: { Authorization: `Bearer ${secret}` },
      })
      const { error } = (await answer.json()) as { error: object }
      expect([answer.status, error]).toEqual([
        403,
        expect.objectContaining({ code: 'scope_missing', details: { scopes: [needed] } }),
      ])
    }
  },
)

test.for(sessionRows.map((row) => [`${row.method} ${row.path}`, row] as const))(
  '%s is refused to every token [session_required]',
  async ([, { method, path }], { console, fixture, stack }) => {
    const tokens = [
      await fixture.token(await fixture.user({ platformOperator: true })),
      await fixture.accessToken({ tenant: stack.tenant, project: null, permissions: ['users.read'] }),
    ]
    for (const { secret } of tokens) {
      const answer = await fetch(console.url + path.replaceAll(/\{\w+\}/g, 'x'), {
        method,
        headers: { Authorization: `Bearer ${secret}` },
      })
      expect(await answer.json()).toMatchObject({ error: { code: 'session_required' } })
    }
  },
)

test('only two operations take a personal token with any scopes', () => {
  const open = rows.filter(({ scopes }) => scopes?.length === 0).map(({ method, path }) => `${method} ${path}`)
  expect(open).toEqual(['GET /api/v2/me', 'DELETE /api/v2/me/tokens/{token}'])
})

test('a scope to write includes the one to read, and no other', async ({ console, fixture, stack }) => {
  const { secret } = await fixture.token(stack.owner.id, { scopes: ['organization:write'] })
  const token = callerOf(console.url, stack.owner.id, secret)
  expect(outcomeOf(await token.get(`${stack.path}/members`))).toBe('200')
  expect(outcomeOf(await token.get(`${stack.path}/keys`))).toBe('403 scope_missing')
  expect((await token.get('/api/v2/me')).body.scopes).toEqual(['organization:write'])
})

test('without the scope operator a token acts as a user without that role [not_found]', async ({
  console,
  fixture,
  stack,
}) => {
  const operator = await fixture.user({ platformOperator: true })
  const of = async (scopes: typeof allScopes) =>
    callerOf(console.url, operator, (await fixture.token(operator, { scopes })).secret)
  const [without, having] = [await of(['money:write']), await of(['money:read', 'operator'])]
  const wallet = `${stack.projectPath}/wallet`
  expect(outcomeOf(await without.get(wallet))).toBe('404 not_found')
  expect((await without.get('/api/v2/me')).body.platformOperator).toBe(false)
  expect(outcomeOf(await having.get(wallet))).toBe('200')
  const funding = { fundingId: 'one', micro: 1 }
  expect(outcomeOf(await having.post(`${wallet}/fundings`, funding))).toBe('403 scope_missing') // it only reads
})

test('keys, service tokens and invitations that a personal token creates end with it at the latest, also after rotating themselves', async ({
  console,
  fixture,
  stack,
}) => {
  const hour = Date.now() + 3_600_000
  const { secret } = await fixture.token(stack.owner.id, { expiresInMs: 3_600_000 })
  const token = callerOf(console.url, stack.owner.id, secret)
  const key = await token.post(`${stack.path}/keys`, { project: stack.project, expiresInDays: 30 })
  const rotated = await token.post(`${stack.path}/keys/${key.body.key.id}/rotate`)
  const another = await token.post(`${stack.path}/keys`, { project: stack.project, expiresInDays: 30 })
  const self = callerOf(console.url, '', another.body.secret)
  const rotatedItself = await self.post(`${stack.path}/keys/${another.body.key.id}/rotate`)
  const made = await token.post(`${stack.path}/tokens`, { name: 'CI', permissions: ['audit.read'] })
  const invited = await token.post(`${stack.path}/invitations`, { email: 'one@example.test' })
  const sentAgain = await token.post(`${stack.path}/invitations/${invited.body.invitation.id}/resend`)
  const links = [invited.body.invitation, sentAgain.body.invitation]
  for (const { expiresAt } of [key.body.key, rotated.body.key, rotatedItself.body.key, made.body.token, ...links] as {
    expiresAt: string
  }[])
    expect(Math.abs(Date.parse(expiresAt) - hour)).toBeLessThan(60_000)
  const bySession = callerOf(console.url, '', (await fixture.session(stack.owner.id)).secret)
  const lasting = await bySession.post(`${stack.path}/keys`, { project: stack.project, expiresInDays: 30 })
  expect(Date.parse(lasting.body.key.expiresAt)).toBeGreaterThan(hour + 86_400_000)
})

test('a token deletes itself without any scope, and others only with account:write [scope_missing]', async ({
  console,
  fixture,
}) => {
  const user = await fixture.user()
  const [own, other] = [await fixture.token(user, { scopes: ['money:read'] }), await fixture.token(user)]
  const token = callerOf(console.url, user, own.secret)
  expect(outcomeOf(await token.delete(`/api/v2/me/tokens/${other.id}`))).toBe('403 scope_missing')
  expect(outcomeOf(await token.delete(`/api/v2/me/tokens/${own.id}`))).toBe('204')
  expect(outcomeOf(await token.get('/api/v2/me'))).toBe('401 token_invalid')
})
