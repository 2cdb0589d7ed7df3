import { expect } from 'vitest'
import { openContentKeys } from '@gateway/capture/content-keys'
import { openDatabase } from '@gateway/database/client'
import { consoleTest as test, outcomeOf } from '../console.fixture.ts'
import { renewPublicKeys } from './capture-settings.ts'

const settings = { retentionDays: 7, hide: ['email'], patterns: ['CUST-[0-9]+'] }

test('a Project Owner turns capture on and off, and everyone in the project sees it', async ({ stack, fixture }) => {
  const set = (capture: unknown) => stack.owner.patch(stack.projectPath, { capture })
  const stored = async () =>
    (await fixture.run('SELECT capture FROM control.projects WHERE id = $1', [stack.project])).rows[0]!['capture']
  const consumer = await stack.member({ project: 'Project Consumer' })
  const seen = async () => (await consumer.get(`${stack.path}/projects`)).body.data[0].capture
  expect(await seen()).toBeNull()
  expect((await set(settings)).body.capture).toEqual(settings)
  expect(await seen()).toEqual(settings)
  const first = await stored()
  expect(first).toMatchObject({ publicKey: expect.stringMatching(/^[\w-]{43}$/), since: first.version })
  await set({ ...settings, hide: [] })
  const second = await stored()
  expect([second.since, second.publicKey]).toEqual([first.since, first.publicKey])
  expect(second.version).not.toBe(first.version)
  await set(null)
  expect(await stored()).toBeNull()
  expect(outcomeOf(await consumer.patch(stack.projectPath, { capture: settings }))).toBe('403 not_permitted')
  const { data } = (await stack.owner.get(`${stack.path}/audit?action=project.change`)).body
  expect(data.map(({ details }: { details: object }) => details)).toEqual([
    { capture: null, before: { capture: { ...settings, hide: [] } } },
    { capture: { ...settings, hide: [] }, before: { capture: settings } },
    { capture: settings, before: { capture: null } },
  ])
})

test.for([
  [{ patterns: ['('] }, 'capture.patterns.0', 'RE2 syntax'],
  [{ patterns: ['ok', 'x*'] }, 'capture.patterns.1', 'empty text'],
  [{ patterns: ['a\0b'] }, 'capture.patterns.0', 'control characters'],
  [{ retentionDays: 0 }, 'capture.retentionDays', ''],
  [{ hide: ['names'] }, 'capture.hide.0', ''],
] as [object, string, string][])(
  'refuses %j, naming the field [invalid_request]',
  async ([more, param, why], { stack }) => {
    const answer = await stack.owner.patch(stack.projectPath, { capture: { ...settings, ...more } })
    expect([outcomeOf(answer), answer.body.error.param]).toEqual(['400 invalid_request', param])
    expect(answer.body.error.message).toContain(why)
  },
)

test('only who has the right reads content, in a session, and each read is in the audit [not_permitted] [session_required]', async ({
  stack,
  signIn,
  fixture,
}) => {
  const invocation = 'inv_00000000000000000000000000'
  const path = `${stack.projectPath}/invocations/${invocation}/content`
  const session = await signIn({ id: stack.owner.id, by: 'session' })
  expect(outcomeOf(await stack.owner.get(path))).toBe('403 session_required')
  const refused = await session.get(path)
  expect(outcomeOf(refused)).toBe('403 not_permitted')
  expect(refused.body.error.message).toContain('a Project Owner of the project gives')

  const give = (body: object) => stack.owner.post(`${stack.projectPath}/grants`, { user: stack.owner.id, ...body })
  expect((await give({ role: 'Project Owner', readsContent: true })).body.readsContent).toBe(true)
  expect((await give({ role: 'Project Owner' })).body.readsContent).toBe(true) // as it was
  expect(outcomeOf(await session.get(path))).toBe('404 not_found')
  await fixture.run(`DELETE FROM control.project_grants WHERE user_id = $1`, [stack.owner.id])
  expect(outcomeOf(await session.get(path))).toBe('403 not_permitted')
})

test('after a rotation of CAPTURE_KEY projects get the public key of the new one', async ({
  stack,
  database,
  onTestFinished,
}) => {
  await stack.owner.patch(stack.projectPath, { capture: settings })
  const { prisma, close } = await openDatabase({ url: database.consoleUrl, poolSize: 1, role: 'test' })
  onTestFinished(close)
  const keyOf = async () =>
    ((await prisma.project.findUniqueOrThrow({ where: { id: stack.project } })).capture as { publicKey: string })
      .publicKey
  const before = await keyOf()
  const next = openContentKeys({ key: 'n'.repeat(32), previousKey: undefined })
  const only = { publicKeyOf: (project: string) => (project === stack.project ? next.publicKeyOf(project) : before) }
  await renewPublicKeys({ prisma }, only)
  expect(await keyOf()).toBe(next.publicKeyOf(stack.project))
})
