import { startMailServer } from '@gateway/testbed/mail-server'
import { openBrowser } from '@gateway/testbed/open-browser'
import { liveTest } from '@gateway/testbed/live-test'
import { expect } from 'vitest'
import { hindrances, isTooWide, openPage, views } from './src/console/browser.ts'
import { startNoticeReceiver } from './src/console/notice-receiver.ts'
import { consoleOwner, signIn } from './src/console/users.ts'
import { choose } from './src/console/widgets.ts'
import { chat, openLiveStack } from './src/stack.ts'

// Who hears of a wallet that runs low: the whole service with a mail server, an endpoint that takes messages for Slack,
// and a browser.

const PUBLIC_URL = 'http://models.example.test'

/** A service that sends mail, and a browser. */
const test = liveTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('mailServer', async ({}, { onCleanup }) => {
    const server = await startMailServer()
    onCleanup(server.stop)
    return server
  })
  .extend('stack', async ({ database, redis, mailServer }, { onCleanup }) => {
    const stack = await openLiveStack({
      ...database,
      redisUrl: redis.url,
      workers: 1,
      environment: {
        ledger: () => ({ PUBLIC_URL }),
        console: () => ({
          PUBLIC_URL,
          SMTP_URL: mailServer.url,
          SMTP_TLS: 'none',
          MAIL_FROM: 'Models <models@example.test>',
        }),
      },
    })
    onCleanup(stack.close)
    return stack
  })
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('browser', async ({}, { onCleanup }) => {
    const browser = await openBrowser()
    onCleanup(() => browser.close())
    return browser
  })
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('slack', async ({}, { onCleanup }) => {
    const receiver = await startNoticeReceiver()
    onCleanup(receiver.stop)
    return receiver
  })

test('the owners of a new project hear of its low wallet by email, and the channel that they added in Slack', async ({
  stack,
  mailServer,
  browser,
  slack,
}) => {
  const owner = await consoleOwner(stack)
  const { tenant, team } = owner.project
  const made = await owner.caller.ask('POST', `/api/v2/tenants/${tenant}/projects`, { name: 'Search', team })
  const { id } = made.body as { id: string }
  await stack.fixture.assign(id, owner.model)
  await stack.fixture.fund(id, 5_000_000n)
  const key = await stack.fixture.key({ project: { id, tenant, team }, by: owner.owner })

  const { page, problems, close } = await openPage(browser)
  const alerts = `${owner.start}/projects/${tenant}/${id}/notices`
  await page.goto(alerts)
  await signIn(page, owner)
  const rules = page.getByRole('region', { name: 'Alert rules' })
  for (const rule of ['$5.00', '80% of limit, 100% of limit', '7 days']) await rules.getByText(rule).waitFor()
  const destinations = page.getByRole('region', { name: 'Destinations' })
  await destinations.getByRole('link', { name: 'Project Owners' }).waitFor()

  await destinations.getByRole('button', { name: 'Add destination' }).click()
  const form = page.getByRole('dialog', { name: 'Add destination' })
  await choose(form, 'Type', 'Slack')
  const endpoint = new URL('/services/T0B0key', slack.url)
  await form.getByLabel('Endpoint URL').fill(endpoint.href)
  expect(await hindrances(page)).toEqual([])
  await form.getByRole('button', { name: 'Add destination' }).click()
  await form.waitFor({ state: 'detached' })
  await destinations.getByRole('button', { name: `Send test to ${endpoint.origin}` }).click()
  const deliveries = page.getByRole('region', { name: 'Deliveries' })
  await deliveries.getByRole('row', { name: /Test/ }).getByText('Delivered').waitFor()
  expect(JSON.parse(slack.received[0]!.body)).toEqual({
    text: `This is a test. Alerts of Search arrive here.\n${PUBLIC_URL}/console/projects/${tenant}/${id}/notices`,
  })
  expect(await page.content()).not.toContain('T0B0key')

  expect((await chat(stack, { key, model: owner.model })).status).toBe(200)
  const [mail] = await mailServer.mailsTo(owner.email)
  expect(mail).toMatch(/^Subject: Balance of Search below \$5\.00$/m)
  expect(mail).toContain(`${PUBLIC_URL}/console/projects/${tenant}/${id}/notices`)
  await expect.poll(() => slack.received.length).toBe(2)
  const { text } = JSON.parse(slack.received[1]!.body) as { text: string }
  expect(text).toMatch(/^The wallet balance of Search fell below \$5\.00\. \$4\.99\d+ remaining\.\n/)

  await page.goto(alerts)
  await page
    .getByRole('row', { name: /Wallet balance fell below/ })
    .getByText('2 of 2 delivered')
    .waitFor()
  for (const view of views) {
    await page.setViewportSize({ width: view.width, height: 900 })
    expect([await hindrances(page), await isTooWide(page)]).toEqual([[], false])
  }
  expect(problems).toEqual([])
  await close()
})
