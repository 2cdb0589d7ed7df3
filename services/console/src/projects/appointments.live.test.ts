import { expect } from 'vitest'
import { openDatabase } from '@gateway/database/client'
import { callerOf, consoleTest, outcomeOf } from '../console.fixture.ts'
import { makeAppointments } from './appointments.ts'

const test = consoleTest
  .extend('prisma', { scope: 'file' }, async ({ database }, { onCleanup }) => {
    const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 2, role: 'test' })
    onCleanup(close)
    return prisma
  })
  /** A project whose only owner was removed by an Admin, who appoints themselves. */
  .extend('lost', async ({ stack, fixture, prisma }) => {
    const admin = await stack.member({ tenant: 'Admin', team: 'Team Owner' })
    const second = await stack.member({ tenant: 'Admin' })
    await admin.delete(`${stack.path}/members/${stack.owner.id}`)
    const grants = `${stack.projectPath}/grants`
    const appoint = (by = admin, user = admin.id) => by.post(grants, { user, role: 'Project Owner' })
    return {
      admin,
      second,
      former: stack.owner,
      appoint,
      object: `/api/v2/me/appointments/${stack.project}`,
      isOwner: async () => outcomeOf(await admin.get(`${stack.projectPath}/sandboxes`)) === '200',
      /** Lets the delay pass, and makes what is due. */
      async pass() {
        await fixture.run('UPDATE control.owner_appointments SET effective_at = now() WHERE project = $1', [
          stack.project,
        ])
        await makeAppointments({ prisma, now: () => new Date(Date.now() + 1_000) })
      },
    }
  })

test('an Admin becomes the owner of a project that lost its owners only after the delay, and all concerned see it before', async ({
  stack,
  lost,
}) => {
  const answer = await lost.appoint()
  expect(outcomeOf(answer)).toBe('202')
  const { createdAt, effectiveAt } = answer.body as { createdAt: string; effectiveAt: string }
  expect(Date.parse(effectiveAt) - Date.parse(createdAt)).toBe(72 * 3_600_000)
  expect((await lost.appoint()).body).toEqual(answer.body)
  for (const user of [lost.former, lost.second, lost.admin])
    expect((await user.get('/api/v2/me/appointments')).body.data).toEqual([answer.body])
  const outsider = await stack.member({ project: 'Project Viewer' })
  expect((await outsider.get('/api/v2/me/appointments')).body.data).toEqual([])
  expect(await lost.isOwner()).toBe(false)
  await lost.pass()
  expect(await lost.isOwner()).toBe(true)
  const { body } = await lost.admin.get(`${stack.path}/audit?subject=${stack.project}&limit=2`)
  expect(body.data).toMatchObject([
    { action: 'grant.set', user: lost.admin.id, details: { user: lost.admin.id, role: 'Project Owner', before: null } },
    { action: 'owner.appoint', user: lost.admin.id, details: { user: lost.admin.id, effectiveAt } },
  ])
})

test.for(['former', 'second'] as const)(
  'after an objection, only a platform operator appoints the owner [not_permitted]: %s',
  async (who, { stack, lost, signIn }) => {
    await lost.appoint()
    const outsider = await stack.member({ project: 'Project Viewer' })
    expect(outcomeOf(await outsider.delete(lost.object))).toBe('404 not_found')
    expect(outcomeOf(await lost[who].delete(lost.object))).toBe('204')
    expect(outcomeOf(await lost[who].delete(lost.object))).toBe('204')
    await lost.pass()
    expect(await lost.isOwner()).toBe(false)
    // Neither can the Admin take the appointment back to begin again.
    expect(outcomeOf(await lost.admin.delete(lost.object))).toBe('204')
    expect(outcomeOf(await lost.appoint())).toBe('403 not_permitted')
    const operator = await signIn({ platformOperator: true })
    expect(outcomeOf(await lost.appoint(operator))).toBe('201')
    expect(await lost.isOwner()).toBe(true)
    expect((await lost.former.get('/api/v2/me/appointments')).body.data).toEqual([])
    expect(outcomeOf(await lost.appoint(operator, lost.second.id))).toBe('403 not_permitted')
  },
)

test('an appointment of another user begins the delay again, and the Admin who made it takes it back', async ({
  lost,
}) => {
  await lost.appoint()
  expect((await lost.appoint(lost.admin, lost.second.id)).body.user).toBe(lost.second.id)
  expect(outcomeOf(await lost.admin.delete(lost.object))).toBe('204')
  expect(outcomeOf(await lost.admin.delete(lost.object))).toBe('404 not_found')
  await lost.pass()
  expect(await lost.isOwner()).toBe(false)
  expect(outcomeOf(await lost.appoint())).toBe('202')
})

test.for(['made a Member', 'suspended'])(
  'an appointment lapses if its Admin is %s in the meantime',
  async (how, { stack, lost }) => {
    await lost.appoint()
    const admin = `${stack.path}/members/${lost.admin.id}`
    if (how === 'suspended') await lost.second.post(`${admin}/suspend`)
    else await lost.second.patch(admin, { role: 'Member' })
    await lost.pass()
    if (how === 'suspended') await lost.second.post(`${admin}/resume`)
    expect(await lost.isOwner()).toBe(false)
    const { body } = await lost.second.get(`${stack.path}/audit?action=owner.lapse`)
    expect(body.data).toMatchObject([{ subject: stack.project, details: { user: lost.admin.id } }])
  },
)

test('an Admin who repeats the appointment of one who no longer is Admin makes it their own, and the delay begins again', async ({
  stack,
  lost,
}) => {
  const heir = await stack.member()
  const first = await lost.appoint(lost.admin, heir.id)
  expect((await lost.appoint(lost.second, heir.id)).body).toEqual(first.body)
  await lost.second.patch(`${stack.path}/members/${lost.admin.id}`, { role: 'Member' })
  const second = await lost.appoint(lost.second, heir.id)
  expect(outcomeOf(second)).toBe('202')
  expect(second.body.appointedBy).toBe(lost.second.id)
  expect(Date.parse(second.body.effectiveAt)).toBeGreaterThan(Date.parse(first.body.effectiveAt))
  await lost.pass()
  expect(outcomeOf(await heir.get(`${stack.projectPath}/sandboxes`))).toBe('200')
  const { body } = await lost.second.get(`${stack.path}/audit?action=owner.appoint`)
  expect(body.data).toMatchObject([{ user: lost.second.id }, { user: lost.admin.id }])
})

test('an owner who is made a Consumer, or loses the grant, sees an appointment as well', async ({ stack, lost }) => {
  await lost.appoint()
  await lost.pass()
  const heir = await stack.member()
  await lost.admin.post(`${stack.projectPath}/grants`, { user: heir.id, role: 'Project Owner' })
  await lost.admin.post(`${stack.projectPath}/grants`, { user: heir.id, role: 'Project Consumer' })
  const other = await stack.member()
  await lost.admin.post(`${stack.projectPath}/grants`, { user: other.id, role: 'Project Owner' })
  await lost.admin.delete(`${stack.projectPath}/grants/${other.id}`)
  await lost.second.delete(`${stack.path}/members/${lost.admin.id}`)
  await lost.appoint(lost.second, lost.second.id)
  for (const user of [heir, other, lost.former])
    expect((await user.get('/api/v2/me/appointments')).body.data).toHaveLength(1)
})

test('a project that never had an owner gets its first one at once', async ({ console, stack }) => {
  const { secret } = (await stack.owner.post(`${stack.path}/tokens`, { name: 't', permissions: ['projects.manage'] }))
    .body
  const program = callerOf(console.url, 'token', secret as string)
  const made = await program.post(`${stack.path}/projects`, { name: 'P', team: stack.team })
  const grants = `${stack.path}/projects/${made.body.id}/grants`
  expect(outcomeOf(await stack.owner.post(grants, { user: stack.owner.id, role: 'Project Owner' }))).toBe('201')
})
