import { expect } from 'vitest'
import { type Caller, consoleTest, outcomeOf } from '../console.fixture.ts'
import { startMailServer } from '@gateway/testbed/mail-server'

// Alerts by mail, from a real ledger to a mail server on loopback.

const test = consoleTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the needed fixtures from this pattern
  .extend('mailServer', { scope: 'file' }, async ({}, { onCleanup }) => {
    const server = await startMailServer()
    onCleanup(server.stop)
    return server
  })
  .extend('settings', { scope: 'file' }, ({ mailServer }) => ({
    console: {
      PUBLIC_URL: 'https://models.example.test',
      SMTP_URL: mailServer.url,
      SMTP_TLS: 'none',
      MAIL_FROM: 'Models <models@example.test>',
    },
  }))
  /** `mailed` adds destinations by mail, and sends them tests. */
  .extend('mailed', ({ stack, fixture }) => {
    const path = `${stack.projectPath}/webhooks`
    return {
      path,
      async to(user: string | null): Promise<string> {
        const made = await stack.owner.post(path, { kind: 'email', user })
        expect([outcomeOf(made), made.body.secret]).toEqual(['201', null])
        return made.body.webhook.id as string
      },
      sendTest: async (id: string) => expect(outcomeOf(await stack.owner.post(`${path}/${id}/test`))).toBe('201'),
      deliveries: async (id: string) => (await stack.owner.get(`${path}/${id}/deliveries`)).body.data,
      /** Makes the next try of a delivery due. Its error is set again only when the result of that try is recorded. */
      elapse: (id: string) =>
        fixture.run('UPDATE money.webhook_deliveries SET next_try_at = now(), error = NULL WHERE webhook = $1', [id]),
    }
  })

const emailOf = ({ id }: Pick<Caller, 'id'>) => `${id}@example.test`

test('an alert is mailed once to the Project Owners of that time, with a link to the alerts', async ({
  stack,
  mailServer,
  mailed,
}) => {
  const destination = await mailed.to(null)
  const [owner, viewer] = [
    await stack.member({ project: 'Project Owner' }),
    await stack.member({ project: 'Project Viewer' }),
  ]
  await mailed.sendTest(destination)
  for (const each of [stack.owner, owner]) {
    const mails = await mailServer.mailsTo(emailOf(each))
    expect(mails).toEqual([expect.stringMatching(/^Subject: Test alert of /m)])
    expect(mails[0]).toContain(`https://models.example.test/console/projects/${stack.tenant}/${stack.project}/notices`)
  }
  await expect.poll(() => mailed.deliveries(destination)).toMatchObject([{ state: 'Delivered', tries: 1, error: null }])
  expect(mailServer.count(emailOf(viewer))).toBe(0)
})

test('a mail that the server refuses is tried again, and arrives once', async ({ stack, mailServer, mailed }) => {
  const viewer = await stack.member({ project: 'Project Viewer' })
  const destination = await mailed.to(viewer.id)
  mailServer.refuse(1)
  await mailed.sendTest(destination)
  const state = () => mailed.deliveries(destination)
  await expect.poll(state).toMatchObject([{ state: 'Pending', tries: 1, status: null, error: 'not_mailed' }])
  await mailed.elapse(destination)
  await expect.poll(state).toMatchObject([{ state: 'Delivered', tries: 2, error: null }])
  expect(mailServer.count(emailOf(viewer))).toBe(1)
})

test('an alert that the server refuses for one owner for now is tried again', async ({ stack, mailServer, mailed }) => {
  const destination = await mailed.to(null)
  const owner = await stack.member({ project: 'Project Owner' })
  mailServer.refuseRecipient(emailOf(owner), 1)
  await mailed.sendTest(destination)
  const state = () => mailed.deliveries(destination)
  await expect.poll(state).toMatchObject([{ state: 'Pending', tries: 1, error: 'not_mailed' }])
  await mailed.elapse(destination)
  await expect.poll(state).toMatchObject([{ state: 'Delivered', tries: 2, error: null }])
  expect(mailServer.count(emailOf(owner))).toBe(1)
})

test('an alert that the server keeps refusing for one owner for now reaches the others as one mail sent seven times', async ({
  stack,
  mailServer,
  mailed,
}) => {
  const destination = await mailed.to(null)
  const owner = await stack.member({ project: 'Project Owner' })
  mailServer.refuseRecipient(emailOf(owner), 99)
  await mailed.sendTest(destination)
  const state = () => mailed.deliveries(destination)
  for (const tries of [1, 2, 3, 4, 5, 6]) {
    await expect.poll(state).toMatchObject([{ state: 'Pending', tries, error: 'not_mailed' }])
    await mailed.elapse(destination)
  }
  await expect.poll(state).toMatchObject([{ state: 'Delivered', tries: 7, error: null }])
  expect((await stack.owner.get(`${mailed.path}/${destination}`)).body.failingSince).toBeNull()
  const mails = await mailServer.mailsTo(emailOf(stack.owner), 7)
  const ids = new Set(
    mails.map((mail) => /^Message-ID: <(ntc_[^>]+)\.\d{4}-\d\d-\d\dT\d\d@example\.test>/m.exec(mail)?.[1]),
  )
  expect([ids.size, mails.length, mailServer.count(emailOf(owner))]).toEqual([1, 7, 0])
})

test('a mail that the server takes for no one keeps all its tries', async ({ stack, mailServer, mailed }) => {
  const viewer = await stack.member({ project: 'Project Viewer' })
  const destination = await mailed.to(viewer.id)
  mailServer.refuseRecipient(emailOf(viewer), 3)
  await mailed.sendTest(destination)
  const state = () => mailed.deliveries(destination)
  for (const tries of [1, 2, 3]) {
    await expect.poll(state).toMatchObject([{ state: 'Pending', tries, error: 'not_mailed' }])
    await mailed.elapse(destination)
  }
  await expect.poll(state).toMatchObject([{ state: 'Delivered', tries: 4 }])
  expect(mailServer.count(emailOf(viewer))).toBe(1)
})

test('an address that the server refuses for good does not repeat the alert for the others', async ({
  stack,
  mailServer,
  mailed,
}) => {
  const destination = await mailed.to(null)
  const owner = await stack.member({ project: 'Project Owner' })
  mailServer.refuseRecipient(emailOf(owner), 1, 550)
  await mailed.sendTest(destination)
  await expect.poll(() => mailed.deliveries(destination)).toMatchObject([{ state: 'Delivered', tries: 1 }])
  expect(mailServer.count(emailOf(stack.owner))).toBe(1)
})

test.for([
  ['lost their role on the project', 'DELETE FROM control.project_grants WHERE user_id = $1'],
  ['was suspended', 'UPDATE control.memberships SET suspended_at = now() WHERE user_id = $1'],
  ['was disabled', 'UPDATE control.users SET disabled_at = now() WHERE id = $1'],
] as const)('a user who %s gets no more alerts', async ([, change], { stack, fixture, mailServer, mailed }) => {
  const viewer = await stack.member({ project: 'Project Viewer' })
  const destination = await mailed.to(viewer.id)
  await fixture.run(change, [viewer.id])
  await mailed.sendTest(destination)
  await expect
    .poll(() => mailed.deliveries(destination))
    .toMatchObject([{ state: 'Dead', tries: 1, error: 'no_recipient', nextTryAt: null }])
  expect(mailServer.count(emailOf(viewer))).toBe(0)
})

test('only a user with a role on the project can get its alerts [invalid_request]', async ({ stack, mailed }) => {
  const member = await stack.member()
  for (const user of [member.id, 'usr_none'])
    expect(outcomeOf(await stack.owner.post(mailed.path, { kind: 'email', user }))).toBe('400 invalid_request')
})

test('alerts of a new project go to its Project Owners, by rules that it starts with', async ({
  stack,
  mailServer,
}) => {
  const project = (await stack.owner.post(`${stack.path}/projects`, { name: 'New', team: stack.team })).body
  const path = `${stack.path}/projects/${project.id}`
  expect((await stack.owner.get(`${path}/notices/thresholds`)).body).toEqual({
    belowMicro: [5_000_000],
    daysLeft: 7,
    keyPercents: [80, 100],
  })
  const { data } = (await stack.owner.get(`${path}/webhooks`)).body
  expect(data).toMatchObject([{ kind: 'email', url: null, user: null, createdBy: stack.owner.id }])
  expect(outcomeOf(await stack.owner.post(`${path}/webhooks/${data[0].id}/test`))).toBe('201')
  const mails = await mailServer.mailsTo(emailOf(stack.owner))
  expect(mails.at(-1)).toMatch(/^Subject: Test alert of New$/m)
})
