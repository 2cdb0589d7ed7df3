import { expect } from 'vitest'
import { callerOf, consoleTest, outcomeOf, type Caller } from '../console.fixture.ts'

/** `consoleTest` with a new key of the project. */
const test = consoleTest.extend('made', async ({ stack }) => {
  const { key, secret } = (await stack.owner.post(`${stack.path}/keys`, { project: stack.project })).body
  const path = `${stack.path}/keys/${key.id}`
  const change = async (act: 'pause' | 'resume' | 'rotate' | 'revoke', by: Caller = stack.owner) => {
    const answer = await by.post(`${path}/${act}`)
    return answer.status < 300 ? ((answer.body.state ?? answer.body.key.state) as string) : outcomeOf(answer)
  }
  return { id: key.id as string, secret: secret as string, path, change }
})

test('a key is paused and resumed, and repeating either changes nothing', async ({
  stack,
  made: { id, path, change },
}) => {
  expect([await change('pause'), await change('pause')]).toEqual(['Paused', 'Paused'])
  const { body: paused } = await stack.owner.get(path)
  expect(paused).toMatchObject({ state: 'Paused', pausedAt: expect.any(String) })
  const idsIn = async (state: string) =>
    ((await stack.owner.get(`${stack.path}/keys?state=${state}`)).body.data as { id: string }[]).map((key) => key.id)
  expect([await idsIn('Paused'), await idsIn('Active')]).toEqual([[id], []])
  expect([await change('resume'), await change('resume')]).toEqual(['Active', 'Active'])
  expect([await idsIn('Paused'), await idsIn('Active')]).toEqual([[], [id]])
  expect((await stack.owner.get(path)).body.pausedAt).toBeNull()
  const { data } = (await stack.owner.get(`${stack.path}/audit?subject=${id}`)).body
  expect(data).toMatchObject([
    { action: 'key.resume', user: stack.owner.id, details: { name: 'Key' } },
    { action: 'key.pause', user: stack.owner.id, details: { name: 'Key' } },
    { action: 'key.create' },
  ])
})

test('a paused key can be revoked, but not rotated, by a user or by itself [key_paused] [key_not_active]', async ({
  stack,
  console,
  made: { path, secret, change },
}) => {
  await change('pause')
  const refused = await stack.owner.post(`${path}/rotate`)
  expect([outcomeOf(refused), refused.body.error.resolution]).toEqual([
    '409 key_not_active',
    'Resume the key, then rotate it.',
  ])
  expect(await change('rotate', callerOf(console.url, '', secret))).toBe('403 key_paused')
  expect(await change('revoke')).toBe('Revoked')
  expect([await change('resume'), await change('pause')]).toEqual(['409 key_not_active', '409 key_not_active'])
})

test('a user who may revoke a key may pause it; resuming requires the issuer rule of the user and of the creator [key_issuer_denied] [not_found]', async ({
  stack,
  signIn,
  fixture,
  made: { id, change },
}) => {
  const admin = await stack.member({ tenant: 'Admin' })
  const viewer = await stack.member({ team: 'Team Owner', project: 'Project Viewer' })
  const outsider = await signIn()
  expect(await change('pause', viewer)).toBe('404 not_found')
  expect(await change('pause', outsider)).toBe('404 not_found')
  expect(await change('pause', admin)).toBe('Paused')
  expect(await change('resume', viewer)).toBe('404 not_found')
  expect(await change('resume', admin)).toBe('403 key_issuer_denied')
  const issuer = await stack.member({ tenant: 'Admin', team: 'Team Member', project: 'Project Consumer' })
  await fixture.run(`UPDATE control.keys SET paused_at = now() WHERE id = $1`, [id])
  await fixture.run('DELETE FROM control.team_members WHERE user_id = $1', [stack.owner.id])
  expect(await change('resume', issuer)).toBe('403 key_issuer_denied')
  await fixture.run(`INSERT INTO control.team_members (team, user_id, role) VALUES ($1, $2, 'Team Member')`, [
    stack.team,
    stack.owner.id,
  ])
  expect(await change('resume', issuer)).toBe('Active')
})

test('a user who may revoke a key may rename it, in any state, and the audit has both names [not_found] [invalid_request]', async ({
  stack,
  made: { id, path, change },
}) => {
  const rename = async (name: string, by: Caller = stack.owner) => {
    const answer = await by.patch(path, { name })
    return answer.status === 200 ? (answer.body.name as string) : outcomeOf(answer)
  }
  const admin = await stack.member({ tenant: 'Admin' })
  const viewer = await stack.member({ project: 'Project Viewer' })
  await change('revoke')
  expect([await rename('Website', admin), await rename('Website')]).toEqual(['Website', 'Website'])
  expect([await rename('Blog', viewer), await rename('')]).toEqual(['404 not_found', '400 invalid_request'])
  expect((await stack.owner.get(path)).body).toMatchObject({ name: 'Website', state: 'Revoked' })
  const { data } = (await stack.owner.get(`${stack.path}/audit?subject=${id}&action=key.rename`)).body
  expect(data).toMatchObject([{ user: admin.id, details: { name: 'Website', before: 'Key' } }])
})
