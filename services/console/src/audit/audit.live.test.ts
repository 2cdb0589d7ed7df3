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
  const count = async () => Number((await fixture.run('SELECT count(*) FROM control.audit')).rows[0].count)
  const one = async (status: string, action: string, change: () => ReturnType<Caller['get']>) => {
    const before = await count()
    const answer = await change()
    expect([action, outcomeOf(answer)]).toEqual([action, status])
    const { rows } = await fixture.run('SELECT action, user_id FROM control.audit ORDER BY id DESC LIMIT 1')
    if (answer.status < 300) expect([rows[0].action, await count()]).toEqual([action, before + 1])
    else expect(await count()).toBe(before)
    return answer.body
  }
  const { owner, path, projectPath } = stack
  const productPath = `${projectPath}/assignments/${encodeURIComponent(product)}`
  await one('403 not_permitted', 'member.set', () => member.post(`${path}/members`, { email: 'n@example.test' }))
  await one('404 not_found', 'grant.set', () => outsider.post(`${projectPath}/grants`, {}))
  await one('201', 'tenant.create', () => operator.post('/api/v2/tenants', { name: 'T' })).then(({ id }) =>
    one('204', 'tenant.delete', () => operator.delete(`/api/v2/tenants/${id}`)),
  )
  await one('200', 'member.set', () => owner.post(`${path}/members`, { user: member.id, role: 'Admin' }))
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
  await one('204', 'member.remove', () => owner.delete(`${path}/members/${member.id}`))
  await one('201', 'token.create', () => owner.post('/api/v2/me/tokens', { name: 't' })).then(({ token }) =>
    one('204', 'token.delete', () => owner.delete(`/api/v2/me/tokens/${token.id}`)),
  )
  await one('204', 'password.set', () => owner.put('/api/v2/me/password', { password: 'long enough for it' }))
  const change = { state: 'suspended' }
  await one('200', 'product.change', () => operator.patch(`/api/v2/products/${encodeURIComponent(product)}`, change))
  const { rows } = await fixture.run(
    `SELECT details FROM control.audit WHERE action = 'product.change' AND subject = $1`,
    [product],
  )
  expect(rows[0].details).toMatchObject({ before: { state: 'published' }, after: change })
})

test("the console's database login cannot change audit rows, move an identity or write money", async ({ database }) => {
  for (const statement of [
    `UPDATE control.audit SET user_id = NULL`,
    `DELETE FROM control.audit`,
    `TRUNCATE control.audit`,
    `UPDATE control.user_identities SET user_id = 'usr_x'`,
    `UPDATE money.wallets SET funded = 1`,
    `SELECT money.fund('prj', 'f', 1, 'me')`,
  ])
    await expect(ask(database.consoleUrl, statement)).rejects.toThrow(/permission denied/)
})
