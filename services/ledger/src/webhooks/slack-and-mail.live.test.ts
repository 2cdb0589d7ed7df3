import { expect } from 'vitest'
import { writeNotices } from '../notices/write-notices.ts'
import { recordDeliveries, takeMails } from './deliveries.ts'
import { sendNotices, webhookTest } from './webhooks.fixture.ts'
import { createWebhook, rotateWebhookSecret } from './webhooks.ts'

/** `send` has a project's notices sent to Slack or by mail. */
const test = webhookTest.extend('send', ({ fixture, receiver, hooked: { deps, project } }) => ({
  async toSlack() {
    const id = fixture.id('whk')
    const url = `${receiver.url}/200`
    expect(await createWebhook(deps, { id, project, kind: 'slack', url, createdBy: 'usr_test' })).toEqual({
      kind: 'made',
      secret: null,
    })
    return id
  },
  async byMail(recipient: string | null = null) {
    const id = fixture.id('eml')
    const made = await createWebhook(deps, { id, project, kind: 'email', recipient, createdBy: 'usr_test' })
    expect(made).toEqual({ kind: 'made', secret: null })
    return id
  },
}))

test('a notice is posted to Slack as unsigned text in dollars with a link, and its names make no markup', async ({
  fixture,
  tenant,
  receiver: { got },
  hooked,
  send,
}) => {
  await fixture.run('UPDATE control.projects SET name = $1 WHERE id = $2', ['<!channel> R&D', hooked.project])
  await send.toSlack()
  await hooked.cross()
  expect(await sendNotices(hooked.deps)).toEqual({ delivered: 1, failed: 0, dead: 0 })
  const [{ headers, body }] = got as [(typeof got)[number]]
  expect(JSON.parse(body)).toEqual({
    text: `The wallet balance of &lt;!channel&gt; R&amp;D fell below $0.99999. $0.99995 remaining.
https://models.example.test/console/projects/${tenant.project.tenant}/${hooked.project}/notices`,
  })
  expect(Object.keys(headers).filter((name) => name.startsWith('webhook-'))).toEqual([])
})

test('a destination without a signature has no secret to rotate', async ({ hooked: { deps, project }, send }) => {
  for (const id of [await send.toSlack(), await send.byMail()])
    expect(await rotateWebhookSecret(deps, { id, project, generation: 1, graceSeconds: null })).toEqual({
      kind: 'refused',
      why: 'not_found',
    })
})

test('mails and posts are taken separately', async ({ hooked, send }) => {
  const [webhook] = [await send.byMail('usr_1'), await send.toSlack()]
  const notice = await hooked.cross()
  const { mails } = await takeMails(hooked.deps)
  expect(mails).toEqual([
    {
      notice,
      webhook,
      tries: 1,
      project: hooked.project,
      recipient: 'usr_1',
      subject: expect.stringMatching(/^Balance of .* below \$0\.99999$/),
      lines: [expect.stringMatching(/^The wallet balance of .* fell below \$0\.99999\. \$0\.99995 remaining\.$/)],
    },
  ])
  expect(await sendNotices(hooked.deps)).toEqual({ delivered: 1, failed: 0, dead: 0 })
  expect(await takeMails(hooked.deps)).toEqual({ mails: [] })
})

test('a mail that was not taken is tried again, and one without a recipient is given up and reported', async ({
  fixture,
  hooked,
  send,
}) => {
  const webhook = await send.byMail('usr_1')
  const notice = await hooked.cross()
  const record = (tries: number, error: 'not_mailed' | 'no_recipient') =>
    recordDeliveries(hooked.deps, { deliveries: [{ notice, webhook, tries, posted: { error } }] })
  await takeMails(hooked.deps)
  expect(await record(1, 'not_mailed')).toMatchObject({ failed: 1 })
  await hooked.elapse()
  const { mails } = await takeMails(hooked.deps)
  expect(mails.filter((mail) => mail.notice === notice)).toMatchObject([{ tries: 2 }])
  expect(await record(2, 'no_recipient')).toMatchObject({ dead: 1 })
  expect(await hooked.deliveries()).toEqual([{ state: 'Dead', tries: 2, status: null, error: 'no_recipient' }])
  const failing = `SELECT details FROM money.notices WHERE project = $1 AND kind = 'webhook.failing'`
  expect((await fixture.run(failing, [hooked.project])).rows).toEqual([{ details: { webhook, error: 'no_recipient' } }])
})

test("a stranger's text in a notice makes no link", async ({ hooked: { deps, project }, send, receiver: { got } }) => {
  await send.toSlack()
  const details = { location: 'https://evil.example/x\n<!here>', source: 'code' }
  const at = '2026-11-26T09:00:00.000Z'
  const leaked = { id: `ntc_${project}`, project, kind: 'token.leaked', key: null, details, at } as const
  await writeNotices(deps, { notices: [leaked] })
  await sendNotices(deps)
  const { text } = JSON.parse(got[0]!.body) as { text: string }
  expect(text.split('\n')[1]).toBe('Reported at https: //evil. example/x &lt;!here&gt; (code).')
})
