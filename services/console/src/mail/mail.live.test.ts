import { expect } from 'vitest'
import { startInProcess } from '@gateway/testbed/service-in-process'
import { newServiceKeys } from '@gateway/service-kit/process/service-keys'
import { answerOf, callerOf, consoleTest, outcomeOf, signInBy, uniqueAddress } from '../console.fixture.ts'
import { startMailServer } from '@gateway/testbed/mail-server'

// Invitations and resets by mail, with a mail server of the registry on loopback.

const PUBLIC_URL = 'https://models.example.test'
const PASSWORD = 'correct horse battery'
const LINK = /https:\/\/models\.example\.test\/console\/(?:invitation|reset)#([\w-]{43})/

const test = consoleTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the needed fixtures from this pattern
  .extend('mailServer', { scope: 'file' }, async ({}, { onCleanup }) => {
    const server = await startMailServer()
    onCleanup(server.stop)
    return server
  })
  .extend('console', { scope: 'file' }, async ({ database, folder, mailServer }, { onCleanup }) => {
    const env = {
      DATABASE_URL: database.consoleUrl,
      LEDGER_URL: 'http://127.0.0.1:9',
      SERVICE_PRIVATE_KEY: newServiceKeys().privateKey,
      SECOND_FACTOR_KEY: 'k'.repeat(32),
      TRUSTED_PROXIES: 'loopback',
      PUBLIC_URL,
      SMTP_URL: mailServer.url,
      SMTP_TLS: 'none',
      MAIL_FROM: 'Models <models@example.test>',
    }
    const program = await startInProcess({ name: 'console-mail', service: 'console', folder, env })
    onCleanup(program.stop)
    return program
  })
  .extend('anyone', ({ console }) => async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': uniqueAddress() }
    return answerOf(await fetch(console.url + path, { method: 'POST', headers, body: JSON.stringify(body) }))
  })

const secretIn = (mail: string) => LINK.exec(mail)![1]!

test('an invitation goes to its email only, and accepting it proves the email', async ({
  stack,
  fixture,
  mailServer,
  anyone,
}) => {
  const email = `mailed.${stack.tenant}@example.test`
  const made = await stack.owner.post(`${stack.path}/invitations`, { email })
  expect([outcomeOf(made), made.body.link]).toEqual(['201', null])
  expect(made.body.invitation.delivery).toBe('pending')
  const [mail = ''] = await mailServer.mailsTo(email)
  expect(mail).toContain('From: Models <models@example.test>')
  expect(mail).toMatch(/^Subject: Join /m)
  expect(mail).toContain('A user invited you to join the organization')
  const list = async () => (await stack.owner.get(`${stack.path}/invitations`)).body.data[0].delivery
  await expect.poll(list).toBe('sent')

  await stack.owner.post(`${stack.path}/invitations/${made.body.invitation.id}/resend`)
  const [first = '', second = ''] = await mailServer.mailsTo(email, 2)
  const accept = (secret: string) => anyone('/api/v2/invitations/accept', { secret, name: 'Grace', password: PASSWORD })
  expect(outcomeOf(await accept(secretIn(first)))).toBe('400 invalid_request')
  const accepted = await accept(secretIn(second))
  expect(outcomeOf(accepted)).toBe('201')
  const { rows } = await fixture.run('SELECT vouched_by FROM control.users WHERE email = $1', [email])
  expect(rows).toEqual([{ vouched_by: null }])
})

test('a reset is answered alike for every email, and its mail lets only a user set a password', async ({
  console,
  signIn,
  fixture,
  mailServer,
  anyone,
}) => {
  const user = await signIn()
  const email = `${user.id}@example.test`
  await fixture.run(`UPDATE control.users SET vouched_by = 'ten_1' WHERE id = $1`, [user.id])
  const unknown = `unknown.${user.id}@example.test`
  const answers = [
    await anyone('/api/v2/session/reset', { email: unknown }),
    await anyone('/api/v2/session/reset', { email }),
  ]
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [202, null],
    [202, null],
  ])
  const [mail = ''] = await mailServer.mailsTo(email)
  const reset = await anyone('/api/v2/session/reset/complete', { secret: secretIn(mail), password: PASSWORD })
  expect(outcomeOf(reset)).toBe('204')
  expect((await signInBy(console.url, email, PASSWORD)).status).toBe(201)
  expect(outcomeOf(await callerOf(console.url, user.id, user.token).get('/api/v2/me'))).toBe('401 token_invalid')
  const { rows } = await fixture.run('SELECT vouched_by FROM control.users WHERE id = $1', [user.id])
  expect(rows).toEqual([{ vouched_by: null }]) // the mail has proven the email
  const left = 'SELECT FROM control.mails WHERE subject = ANY($1)'
  await expect.poll(async () => (await fixture.run(left, [[email, unknown]])).rowCount).toBe(0)
})

test('sends three mails an hour for one email, and answers the fourth request like the others', async ({
  signIn,
  fixture,
  mailServer,
  anyone,
}) => {
  const email = `${(await signIn()).id}@example.test`
  for (let n = 1; n <= 3; n++) {
    expect((await anyone('/api/v2/session/reset', { email })).status).toBe(202)
    await mailServer.mailsTo(email, n)
  }
  expect((await anyone('/api/v2/session/reset', { email })).status).toBe(202)
  const { rows } = await fixture.run('SELECT FROM control.mails WHERE subject = $1 AND tries = 0', [email])
  expect(rows).toEqual([])
})

test('a mail that the server refuses is tried again with a new link', async ({
  stack,
  fixture,
  mailServer,
  anyone,
}) => {
  const email = `retried.${stack.tenant}@example.test`
  mailServer.refuse(1)
  const made = await stack.owner.post(`${stack.path}/invitations`, { email })
  const { id } = made.body.invitation
  const due = `SELECT FROM control.mails WHERE subject = $1 AND tries = 1 AND due_at < now() + interval '60 s'`
  await expect.poll(async () => (await fixture.run(due, [id])).rowCount).toBe(1)
  await fixture.run('UPDATE control.mails SET due_at = now() WHERE subject = $1', [id])
  const [mail = ''] = await mailServer.mailsTo(email)
  expect(outcomeOf(await anyone('/api/v2/invitations/read', { secret: secretIn(mail) }))).toBe('200')
})

test('a link from the platform operator replaces a mail that waits, so that mail does not end it', async ({
  console,
  signIn,
  fixture,
  mailServer,
  anyone,
}) => {
  const [user, next] = [await signIn(), await signIn()]
  const operator = await signIn({ platformOperator: true, by: 'session' })
  const [email, later] = [`${user.id}@example.test`, `${next.id}@example.test`]
  mailServer.refuse(1)
  await anyone('/api/v2/session/reset', { email })
  const waiting = `SELECT FROM control.mails WHERE subject = $1 AND tries = 1 AND due_at < now() + interval '60 s'`
  await expect.poll(async () => (await fixture.run(waiting, [email])).rowCount).toBe(1)
  const headers = { 'Content-Type': 'application/json', Cookie: `__Host-svc_session=${operator.token}` }
  const asked = { method: 'POST', headers, body: JSON.stringify({ email }) }
  const made = await answerOf(await fetch(`${console.url}/api/v2/password-resets`, asked))
  expect(outcomeOf(made)).toBe('201')
  await fixture.run(`UPDATE control.mails SET due_at = now() - interval '1 h' WHERE subject = $1`, [email])
  await anyone('/api/v2/session/reset', { email: later })
  await mailServer.mailsTo(later) // the queue sends the one due first, first
  expect(mailServer.count(email)).toBe(0)
  expect(
    outcomeOf(await anyone('/api/v2/session/reset/complete', { secret: secretIn(made.body.link), password: PASSWORD })),
  ).toBe('204')
})

test('an invitation that is sent again during its first mail is sent only once the second mail is', async ({
  stack,
  fixture,
  mailServer,
}) => {
  const email = `again.${stack.tenant}@example.test`
  const first = mailServer.hold()
  const { id } = (await stack.owner.post(`${stack.path}/invitations`, { email })).body.invitation
  await first.arrived
  mailServer.refuse(1)
  await stack.owner.post(`${stack.path}/invitations/${id}/resend`)
  first.release()
  const delivery = async () => (await stack.owner.get(`${stack.path}/invitations`)).body.data[0].delivery
  const refused = `SELECT FROM control.mails WHERE subject = $1 AND tries = 1 AND due_at < now() + interval '60 s'`
  await expect.poll(async () => (await fixture.run(refused, [id])).rowCount).toBe(1)
  expect(await delivery()).toBe('pending')
  mailServer.refuse(1)
  await fixture.run('UPDATE control.mails SET due_at = now(), tries = 7 WHERE subject = $1', [id])
  await expect.poll(delivery, { timeout: 10_000 }).toBe('failed')
})

test('a mail that is asked for again between its lease and its link makes none', async ({
  signIn,
  fixture,
  mailServer,
  anyone,
  onTestFinished,
}) => {
  const [user, next] = [await signIn(), await signIn()]
  const [email, later] = [`${user.id}@example.test`, `${next.id}@example.test`]
  await fixture.run(
    `CREATE FUNCTION control.ask_again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       UPDATE control.mails SET id = 'mai_again', due_at = now() + interval '1 day', tries = 0 WHERE id = NEW.id;
       RETURN NULL; END $$;
     CREATE TRIGGER ask_again AFTER UPDATE ON control.mails FOR EACH ROW
       WHEN (NEW.tries = 1 AND NEW.subject = '${email}') EXECUTE FUNCTION control.ask_again()`,
  )
  onTestFinished(
    async () => void (await fixture.run('DROP TRIGGER ask_again ON control.mails; DROP FUNCTION control.ask_again')),
  )
  for (const each of [email, later]) await anyone('/api/v2/session/reset', { email: each })
  await mailServer.mailsTo(later) // the queue sends one after the other
  expect(mailServer.count(email)).toBe(0)
  const { rows } = await fixture.run('SELECT user_id FROM control.password_resets WHERE user_id = ANY ($1)', [
    [user.id, next.id],
  ])
  expect(rows).toEqual([{ user_id: next.id }])
})

test('a revoked invitation is not mailed', async ({ stack, fixture }) => {
  const email = `revoked.${stack.tenant}@example.test`
  await fixture.run('BEGIN')
  await fixture.run('LOCK TABLE control.mails IN EXCLUSIVE MODE')
  const making = stack.owner.post(`${stack.path}/invitations`, { email })
  await fixture.run('COMMIT')
  const { id } = (await making).body.invitation
  await stack.owner.delete(`${stack.path}/invitations/${id}`)
  await expect
    .poll(async () => (await fixture.run('SELECT FROM control.mails WHERE subject = $1', [id])).rowCount)
    .toBe(0)
})
