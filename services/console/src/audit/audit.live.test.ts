import { expect } from 'vitest'
import { ask } from '@gateway/testbed/ask'
import { consoleTest as test, outcomeOf, type Caller } from '../console.fixture.ts'

test('every change writes exactly one audit row, and a refused request writes none', async ({
  stack,
  fixture,
  signIn,
}) => {
  const operator = await signIn({ platformOperator: true })
  const [member, product] = [await stack.member(), await fixture.product()]
  const outsider = await signIn()
  const count = async () =>
    Number(
      (await fixture.run('SELECT count(*) FROM control.audit WHERE original IS NULL AND request IS NOT NULL')).rows[0]
        .count,
    )
  const one = async (status: string, action: string, change: () => ReturnType<Caller['get']>) => {
    const before = await count()
    const answer = await change()
    expect([action, outcomeOf(answer)]).toEqual([action, status])
    const { rows } = await fixture.run(
      'SELECT action, user_id FROM control.audit WHERE original IS NULL AND request IS NOT NULL ORDER BY id DESC LIMIT 1',
    )
    if (answer.status < 300) expect([rows[0].action, await count()]).toEqual([action, before + 1])
    else expect(await count()).toBe(before)
    return answer.body
  }
  const { owner, path, projectPath } = stack
  const productPath = `${projectPath}/assignments/${encodeURIComponent(product)}`
  await one('403 not_permitted', 'member.set', () => member.patch(`${path}/members/${owner.id}`, { role: 'Member' }))
  await one('404 not_found', 'grant.set', () => outsider.post(`${projectPath}/grants`, {}))
  await one('201', 'tenant.create', () => operator.post('/api/v2/tenants', { name: 'T' })).then(({ id }) =>
    one('204', 'tenant.delete', () => operator.delete(`/api/v2/tenants/${id}`)),
  )
  await one('200', 'member.set', () => owner.patch(`${path}/members/${member.id}`, { role: 'Admin' }))
  const invite = () => owner.post(`${path}/invitations`, { email: `n.${stack.tenant}@example.test` })
  await one('201', 'invitation.create', invite).then(async ({ invitation: { id } }) => {
    await one('200', 'invitation.resend', () => owner.post(`${path}/invitations/${id}/resend`))
    await one('204', 'invitation.revoke', () => owner.delete(`${path}/invitations/${id}`))
  })
  await one('201', 'team.create', () => owner.post(`${path}/teams`, { name: 'T' })).then(async ({ id }) => {
    await one('201', 'team-member.set', () => owner.post(`${path}/teams/${id}/members`, { user: member.id }))
    await one('204', 'team-member.remove', () => owner.delete(`${path}/teams/${id}/members/${member.id}`))
    await one('204', 'team.delete', () => owner.delete(`${path}/teams/${id}`))
  })
  await one('201', 'grant.set', () => owner.post(`${projectPath}/grants`, { user: member.id, role: 'Project Viewer' }))
  await one('204', 'grant.remove', () => owner.delete(`${projectPath}/grants/${member.id}`))
  await one('201', 'product.assign', () => owner.put(productPath))
  await one('204', 'product.unassign', () => owner.delete(productPath))
  await one('201', 'key.create', () => owner.post(`${path}/keys`, { project: stack.project })).then(async ({ key }) => {
    const { key: next } = await one('201', 'key.rotate', () => owner.post(`${path}/keys/${key.id}/rotate`))
    await one('409 key_not_active', 'key.rotate', () => owner.post(`${path}/keys/${key.id}/rotate`))
    await one('200', 'key.revoke', () => owner.post(`${path}/keys/${next.id}/revoke`))
  })
  await one('201', 'wallet.fund', () => operator.post(`${projectPath}/wallet/fundings`, { fundingId: 'f', micro: 1 }))
  await one('201', 'wallet.correct', () =>
    operator.post(`${projectPath}/wallet/corrections`, { correctionId: 'c', micro: 1, reason: 'r' }),
  )
  await one('201', 'project.create', () => owner.post(`${path}/projects`, { name: 'P' })).then(({ id }) =>
    one('204', 'project.delete', () => owner.delete(`${path}/projects/${id}`)),
  )
  await one('200', 'member.suspend', () => owner.post(`${path}/members/${member.id}/suspend`))
  await one('200', 'member.resume', () => owner.post(`${path}/members/${member.id}/resume`))
  await one('200', 'member.remove', () => owner.delete(`${path}/members/${member.id}`))
  await one('200', 'user.disable', () => operator.post(`/api/v2/users/${outsider.id}/disable`))
  await one('200', 'user.enable', () => operator.post(`/api/v2/users/${outsider.id}/enable`))
  const bySession = (id: string) => signIn({ id, by: 'session' })
  const [operatorSession, ownerSession] = [await bySession(operator.id), await bySession(owner.id)]
  await one('201', 'operator.add', () => operatorSession.post('/api/v2/operators', { user: outsider.id }))
  await one('204', 'operator.remove', () => operatorSession.delete(`/api/v2/operators/${outsider.id}`))
  await one('200', 'tenant.change', () => owner.patch(path, { requireSecondFactor: false }))
  await one('201', 'token.create', () => ownerSession.post('/api/v2/me/tokens', { name: 't' })).then(({ token }) =>
    one('204', 'token.delete', () => owner.delete(`/api/v2/me/tokens/${token.id}`)),
  )
  await one('204', 'password.set', () => owner.put('/api/v2/me/password', { password: 'long enough for it' }))
  await one('204', 'user.sign-out', () => owner.delete('/api/v2/me/sessions'))
  const change = { state: 'suspended' }
  await one('200', 'product.change', () => operator.patch(`/api/v2/products/${encodeURIComponent(product)}`, change))
  const { rows } = await fixture.run(
    `SELECT details FROM control.audit WHERE action = 'product.change' AND subject = $1`,
    [product],
  )
  expect(rows[0].details).toMatchObject({ before: { state: 'published' }, after: change })
})

test('the audit of a deleted project or organization names the service tokens that ended with it', async ({
  stack,
  fixture,
  signIn,
}) => {
  const [session, operator] = [
    await signIn({ id: stack.owner.id, by: 'session' }),
    await signIn({ platformOperator: true }),
  ]
  const detailsOf = async (action: string, subject: string) => {
    const { rows } = await fixture.run('SELECT details FROM control.audit WHERE action = $1 AND subject = $2', [
      action,
      subject,
    ])
    return rows.map(({ details }) => details as object)
  }
  const made = async (path: string, permission: string) =>
    (await session.post(`${path}/tokens`, { name: 'CI', permissions: [permission] })).body.token.id as string
  const ofProject = await made(stack.projectPath, 'wallet.read')
  const ofTenant = await made(stack.path, 'audit.read')
  expect(outcomeOf(await stack.owner.delete(stack.projectPath))).toBe('204')
  expect(await detailsOf('project.delete', stack.project)).toMatchObject([{ tokens: [ofProject] }])
  expect(outcomeOf(await operator.delete(stack.path))).toBe('204')
  expect(await detailsOf('tenant.delete', stack.tenant)).toEqual([{ tokens: [ofTenant] }])
})

test("the console's database login cannot change audit rows, move an identity or write money", async ({ database }) => {
  for (const statement of [
    `UPDATE control.audit SET user_id = NULL`,
    `DELETE FROM control.audit`,
    `TRUNCATE control.audit`,
    `UPDATE control.user_identities SET user_id = 'usr_x'`,
    `UPDATE money.wallets SET funded = 1`,
    `SELECT money.fund('prj', 'f', 1, 'me')`,
    `INSERT INTO control.audit (action, subject, position, seal) VALUES ('a', 'b', 1, sha256(''))`,
    `INSERT INTO control.audit (action, subject, at) VALUES ('a', 'b', '2020-01-01')`,
    `INSERT INTO control.audit_start (position, seal, at) VALUES (9, sha256(''), now())`,
  ])
    await expect(ask(database.consoleUrl, statement)).rejects.toThrow(/permission denied/)
})

test('an audit row names who did it, with request, address and device', async ({ console, stack, fixture }) => {
  const device = `Mozilla/5.0 ${'x'.repeat(300)}`
  const answer = await fetch(`${console.url}${stack.path}/teams`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${stack.owner.token}`,
      'Content-Type': 'application/json',
      'User-Agent': device,
      'X-Forwarded-For': '203.0.113.7',
    },
    body: JSON.stringify({ name: 'T' }),
  })
  const { id } = (await answer.json()) as { id: string }
  const { rows } = await fixture.run(
    `SELECT a.user_id, a.user_name = u.name AS named, outcome, request, address, device
       FROM control.audit a JOIN control.users u ON u.id = a.user_id WHERE subject = $1`,
    [id],
  )
  expect(rows).toEqual([
    {
      user_id: stack.owner.id,
      named: true,
      outcome: 'succeeded',
      request: answer.headers.get('X-Request-Id'),
      address: '203.0.113.7',
      device: device.slice(0, 200),
    },
  ])
})

test("a user's own security events are repeated for each of their organizations, and changes of the platform are not", async ({
  stack,
  fixture,
  signIn,
}) => {
  const user = await signIn({ platformOperator: true })
  const other = await fixture.tenant()
  for (const tenant of [stack.tenant, other.tenant])
    await fixture.run(`INSERT INTO control.memberships (tenant, user_id, role) VALUES ($1, $2, 'Member')`, [
      tenant,
      user.id,
    ])
  const product = await fixture.product()
  const session = await signIn({ id: user.id, by: 'session' })
  const { body } = await session.post('/api/v2/me/tokens', { name: 't' })
  await user.patch(`/api/v2/products/${encodeURIComponent(product)}`, { state: 'suspended' })
  const tenantsOf = async (subject: string) =>
    (await fixture.run('SELECT tenant FROM control.audit WHERE subject = $1 ORDER BY id', [subject])).rows.map(
      ({ tenant }) => tenant as string | null,
    )
  const [first, ...copies] = await tenantsOf(body.token.id)
  expect([first, copies.toSorted(byText)]).toEqual([null, [stack.tenant, other.tenant].toSorted(byText)])
  expect(await tenantsOf(product)).toEqual([null])
})

function byText(one: string | null, other: string | null): number {
  return String(one) < String(other) ? -1 : 1
}
