import { expect, onTestFinished } from 'vitest'
import { callerAt } from './src/caller.ts'
import { hindrances, isTooWide, type Page } from './src/console/browser.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import { startNoticeReceiver, type ReceivedNotice } from './src/console/notice-receiver.ts'
import { placesOf } from './src/console/places.ts'
import { acceptOn, consoleOwner, inviteOn, signedInAt } from './src/console/users.ts'
import { chat } from './src/stack.ts'
import { choose, typeFocused } from './src/console/widgets.ts'

// Alerts, webhooks, errors, first steps, and the command palette, in a browser.

const region = (page: Page, name: string) => page.getByRole('region', { name })

/** Adds an alert rule for a balance below this many USD. */
async function alertBelow(page: Page, usd: string): Promise<void> {
  await page.getByRole('button', { name: 'Edit alert rules' }).click()
  const form = page.getByRole('dialog', { name: 'Edit alert rules' })
  await form.getByLabel('Balance below (USD)').first().fill(usd)
  await form.getByRole('button', { name: /^Add: Balance below/ }).click()
  await form.getByRole('button', { name: 'Save alert rules' }).click()
  await form.waitFor({ state: 'detached' })
  await region(page, 'Alert rules').getByText(`$${usd}`).waitFor()
}

/** Adds a webhook. Its secret is shown then. */
async function addWebhook(page: Page, url: string): Promise<void> {
  await page.getByRole('button', { name: 'Add destination' }).click()
  const form = page.getByRole('dialog', { name: 'Add destination' })
  await form.getByLabel('Endpoint URL').fill(url)
  await form.getByRole('button', { name: 'Add destination' }).click()
}

test('a crossed threshold raises an alert and posts it with a signature that the documented code verifies', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const receiver = await startNoticeReceiver()
  onTestFinished(receiver.stop)
  const { page, problems } = await signedInAt(visit, owner, `${owner.home}/notices`)
  await page.getByText('No alerts yet').waitFor()
  await alertBelow(page, '4.99999')

  await addWebhook(page, receiver.url)
  const secretDialog = page.getByRole('dialog', { name: 'Signing secret' })
  await secretDialog.locator('pre').nth(1).waitFor()
  const [secret, code] = await secretDialog.locator('pre').allTextContents()
  await secretDialog.getByRole('button', { name: 'Done' }).click()
  await region(page, 'Destinations').getByText('No deliveries yet').waitFor()

  expect((await chat(stack, owner)).status).toBe(200)
  await page.getByRole('link', { name: 'Alerts, 1 open' }).waitFor()
  const row = page.getByRole('row', { name: /Wallet balance fell below/ })
  await row.getByText('Open').waitFor()
  await row.getByText('1 of 1 delivered').waitFor()
  await region(page, 'Destinations').getByText('Delivered').waitFor()
  await expect.poll(() => page.getByRole('status').allInnerTexts()).toContain('1 open alert.')

  const [notice] = receiver.received as [ReceivedNotice]
  const module: string = `data:text/javascript,${encodeURIComponent(code!)}`
  const { isGenuine } = await import(module)
  expect(isGenuine(notice.headers, notice.body, secret)).toBe(true)
  expect(isGenuine(notice.headers, notice.body.replace('below', 'above'), secret)).toBe(false)
  expect(JSON.parse(notice.body)).toMatchObject({ type: 'wallet.below', data: { threshold: 4_999_990 } })

  await stack.fixture.fund(owner.project.id, 1_000_000n)
  await row.getByText('Resolved').waitFor()
  await page.getByRole('link', { name: 'Alerts', exact: true }).first().waitFor()

  await page.getByRole('button', { name: `Delete ${receiver.url}` }).click()
  const deletion = page.getByRole('dialog', { name: 'Delete destination?' })
  await deletion.getByText('pending deliveries are dropped').waitFor()
  await deletion.getByRole('button', { name: 'Delete destination' }).click()
  await region(page, 'Destinations').getByText('No destinations yet').waitFor()
  expect(problems).toEqual([])
})

test('a webhook that rejects a delivery shows as failing, with the reason and the next attempt', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const receiver = await startNoticeReceiver()
  onTestFinished(receiver.stop)
  receiver.answer.status = 500
  const { page } = await signedInAt(visit, owner, `${owner.home}/notices`)
  await alertBelow(page, '4.99999')
  await addWebhook(page, receiver.url)
  await page.getByRole('button', { name: 'Done' }).click()
  expect((await chat(stack, owner)).status).toBe(200)
  const destinations = region(page, 'Destinations')
  await destinations.getByText('Failing').waitFor()
  await destinations.getByText(/HTTP 500. Next attempt/).waitFor()
})

test("a webhook's page sends a test, rotates the secret without losing a delivery, and resends what failed", async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const receiver = await startNoticeReceiver()
  onTestFinished(receiver.stop)
  const webhooks = `/api/v2/tenants/${owner.project.tenant}/projects/${owner.project.id}/webhooks`
  const made = await owner.caller.ask('POST', webhooks, { url: receiver.url })
  const { secret: first, webhook } = made.body as { secret: string; webhook: { id: string } }
  const { page, problems } = await signedInAt(visit, owner, `${owner.home}/notices`)
  await region(page, 'Destinations').getByRole('link', { name: receiver.url }).click()
  await region(page, 'Destination').getByText('Working').waitFor()
  await page.getByText('No deliveries yet').waitFor()

  await page.getByRole('button', { name: 'Send test', exact: true }).click()
  const sent = region(page, 'Deliveries').getByRole('row', { name: /Test/ })
  await sent.getByText('Delivered').waitFor()

  await page.getByRole('button', { name: 'Rotate secret' }).click()
  const form = page.getByRole('dialog', { name: 'Rotate signing secret' })
  await form.getByText('so no delivery is lost').waitFor()
  expect(await hindrances(page)).toEqual([])
  await form.getByRole('button', { name: 'Rotate secret' }).click()
  const shown = page.getByRole('dialog', { name: 'Signing secret', exact: true })
  await shown.waitFor()
  const [second, code] = (await shown.locator('pre').allTextContents()) as [string, string]
  await shown.getByRole('button', { name: 'Done' }).click()
  await region(page, 'Destination').getByText('Earlier secrets sign until').waitFor()

  receiver.answer.status = 410
  await page.getByRole('button', { name: 'Send test', exact: true }).click()
  await region(page, 'Destination').getByText('Failing').waitFor()
  const dead = region(page, 'Deliveries').getByRole('row', { name: /HTTP 410/ })
  await dead.getByText('Failed').waitFor()
  const module: string = `data:text/javascript,${encodeURIComponent(code)}`
  const { isGenuine } = await import(module)
  const { headers, body } = receiver.received.at(-1)!
  expect([first, second].map((secret) => isGenuine(headers, body, secret))).toEqual([true, true])
  expect([await hindrances(page), await isTooWide(page)]).toEqual([[], false])

  receiver.answer.status = 204
  await dead.getByRole('button', { name: /^Resend Test/ }).click()
  await region(page, 'Destination').getByText('Working').waitFor()
  await dead.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'All alerts and destinations' }).click()
  await page
    .getByRole('row', { name: /A destination is failing: HTTP 410/ })
    .getByText('Resolved')
    .waitFor()
  await page.goto(`${owner.home}/notices/webhooks/${webhook.id}`)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete destination' }).click()
  await region(page, 'Destinations').getByText('No destinations yet').waitFor()
  expect(problems).toEqual([])
})

test('the settings forbid keys to rotate themselves, and the key list and the alerts show who rotated a key', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { url } = stack.gateways[0]!
  const keys = `/api/v2/tenants/${owner.project.tenant}/keys`
  const rotated = await callerAt(url, owner.key.secret).ask('POST', `${keys}/${owner.key.id}/rotate`)
  const { key, secret } = rotated.body as { key: { id: string }; secret: string }
  const { page, problems } = await signedInAt(visit, owner, `${owner.home}/keys`)
  await page.getByText(/replaces a key that rotated itself/).waitFor()
  await page.getByLabel('Show revoked and expired').check()
  await page.getByText(/^Rotated itself/).waitFor()

  await page.goto(`${owner.home}/settings`)
  const part = region(page, 'Key rotation')
  await part.getByLabel('Keys can rotate themselves').uncheck()
  await part.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Key rotation saved.').waitFor()
  expect(await hindrances(page)).toEqual([])
  const refused = await callerAt(url, secret).ask('POST', `${keys}/${key.id}/rotate`)
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('rotation_forbidden')])

  await callerAt(url, null).ask('POST', '/api/v2/leaked-secrets', { token: secret, url: 'https://example.com/found' })
  await page.goto(`${owner.home}/notices`)
  await page
    .getByRole('row', { name: /rotated itself. If this was not your program/ })
    .getByText('Open')
    .waitFor()
  const leak = page.getByRole('row', { name: /was found in public, and the key was revoked/ })
  await leak.getByText('https://example.com/found').waitFor()
  expect(await leak.getByRole('link').count()).toBe(0) // a stranger's address isn't a link
  expect(await hindrances(page)).toEqual([])
  expect(problems).toEqual([])
})

test('an invalid endpoint URL is refused in the form and kept for correction [invalid_request]', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page } = await signedInAt(visit, owner, `${owner.home}/notices`)
  await addWebhook(page, 'https://me:secret@hooks.example.com/')
  const form = page.getByRole('dialog', { name: 'Add destination' })
  await form.getByRole('alert').getByText('invalid_request').waitFor()
  expect(await form.getByLabel('Endpoint URL').inputValue()).toBe('https://me:secret@hooks.example.com/')
})

test('the Errors page lists refusals by code with their resolution, keeps filters in the URL, and offers to create a key [model_not_found]', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const refused = await chat(stack, { ...owner, model: 'acme/no-such-model' })
  expect(refused.status).toBe(404)
  const limited = await stack.fixture.key({
    project: owner.project,
    by: owner.owner,
    limit: { micro: 1n, reset: 'lifetime' },
  })
  expect((await chat(stack, { ...owner, key: limited })).status).toBe(403)
  const { page, problems } = await signedInAt(visit, owner, owner.home)
  await page.getByRole('link', { name: 'How to fix' }).click()
  const byCode = region(page, 'By code')
  const unknown = byCode.getByRole('row', { name: /model_not_found/ })
  await unknown.getByText('This project has no model with that name.').waitFor()
  await unknown.getByText('ask an Admin to assign the missing model').waitFor()
  const link = unknown.getByRole('link', { name: 'model_not_found' })
  expect(await link.getAttribute('href')).toBe('/docs/refusals/model_not_found')
  const limit = byCode.getByRole('row', { name: /key_limit/ })
  await limit.getByText('a key with a higher limit').waitFor()
  await expect.poll(() => region(page, 'By key').getByRole('row').count()).toBe(3) // the list refreshes automatically

  await choose(page, 'Code', 'key_limit')
  await unknown.waitFor({ state: 'detached' })
  await choose(page, 'Time', 'Last 7 days')
  await page.reload()
  await limit.waitFor()
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ code: 'key_limit', days: '7' })
  expect(await region(page, 'Most recent').getByText(refused.headers.get('x-request-id')!).count()).toBe(0)
  await limit.getByRole('link', { name: 'Create key' }).click()
  await page.getByRole('dialog', { name: 'Create key' }).waitFor()
  expect(problems).toEqual([])
})

test('the command palette opens screens, switches the theme, and creates keys and flows by keyboard alone', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page, problems } = await signedInAt(visit, owner, owner.home)
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  const field = page.getByRole('combobox', { name: 'Search and commands' })
  const command = async (sought: string, title: string) => {
    await page.keyboard.press('Control+k')
    await field.waitFor()
    await typeFocused(page, sought)
    await page.getByRole('option', { name: title, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await field.waitFor({ state: 'detached' })
  }
  const focused = () => page.evaluate<string>('document.activeElement.textContent')
  await command('usg', 'Usage')
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
  await expect.poll(focused).toBe('Usage')
  await command('dark', 'Dark theme')
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
  await page.keyboard.press('?')
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await shortcuts.getByText('Ctrl K').waitFor()
  expect(await hindrances(page)).toEqual([])
  await page.keyboard.press('Escape')
  await shortcuts.waitFor({ state: 'detached' })
  await command('ck', 'Create key')
  await page.getByRole('dialog', { name: 'Create key' }).waitFor()
  await page.keyboard.press('Escape')
  await command('cf', 'Create flow')
  await page.getByRole('dialog', { name: 'Create flow' }).getByLabel('Name').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await typeFocused(page, 'no such thing at all')
  await page.getByText('No results.').waitFor()
  expect(await hindrances(page)).toEqual([])
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.press('Delete')
  await page.getByRole('option', { name: 'Overview' }).waitFor()
  await page.keyboard.press('ArrowUp')
  await page.getByRole('option', { name: 'Sign out', selected: true }).waitFor()
  expect(await hindrances(page)).toEqual([])
  await page.keyboard.press('Enter')
  await page.getByLabel('Email').waitFor()
  expect(problems).toEqual([])
})

test('the first steps lead from nothing to a call, a flow and a colleague, and each is ticked off without a reload', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const empty = await stack.fixture.project({ ...owner.project, owner: owner.owner })
  const { page, problems } = await signedInAt(visit, owner, `${owner.start}/projects/${empty.tenant}/${empty.id}`)
  const { createFlow, flow, run, rail } = placesOf(page)
  const steps = region(page, 'First steps')
  await steps.getByText('0 of 6 done').waitFor()
  await steps.getByText('Ask an operator of the platform to add funds').waitFor()
  await stack.fixture.fund(empty.id, 5_000_000n)
  await steps.getByText('Fund the wallet (done)').waitFor()

  await steps.getByRole('button', { name: 'Assign product' }).click()
  const assigning = page.getByRole('dialog', { name: 'Assign product' })
  await choose(assigning, 'Product', new RegExp(owner.model))
  await assigning.getByRole('button', { name: 'Assign product' }).click()
  await steps.getByText('Available:').waitFor()
  for (const client of ['curl', 'Claude Code', 'Codex', 'Cursor']) {
    await steps.getByRole('tab', { name: client }).click()
    await steps.getByRole('tabpanel', { name: client }).getByText(owner.model).waitFor()
  }
  expect(await hindrances(page)).toEqual([])
  await steps.getByRole('link', { name: 'Create key' }).click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name', { exact: true }).fill('first')
  await form.getByRole('button', { name: 'Create key' }).click()
  const made = page.getByRole('dialog', { name: 'Secret for first' })
  const secret = (await made.locator('pre').first().textContent())!
  await made.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('link', { name: 'Overview' }).click()
  await steps.getByText('Create an API key (done)').waitFor()
  expect((await chat(stack, { key: { ...owner.key, secret }, model: owner.model })).status).toBe(200)
  await region(page, 'Latest calls').getByText('Charged').waitFor()
  await steps.getByText('4 of 6 done').waitFor()

  await steps.getByRole('link', { name: 'Start from a template' }).click()
  await page.getByRole('dialog', { name: 'Create flow' }).getByRole('radio', { name: 'Best of two models' }).click()
  await createFlow.submit.click()
  await flow.state('Revision 1').waitFor()
  await run.tab.click()
  await run.input('Question').fill('Why is rain wet?')
  await run.start.click()
  await run.result.getByText('Succeeded', { exact: true }).waitFor()
  await rail('Overview').click()
  await steps.getByText('Run a flow (done)').waitFor()
  await steps.getByRole('button', { name: 'Hide' }).waitFor()

  await steps.getByRole('link', { name: 'Invite user' }).click()
  const link = await inviteOn(page, `grace-${empty.id}@example.test`)
  const colleague = await visit()
  await colleague.page.goto(link)
  await acceptOn(colleague.page, 'Grace')
  await page.goto(`${owner.start}/projects/${empty.tenant}/${empty.id}`)
  await region(page, 'Latest calls').waitFor()
  await steps.waitFor({ state: 'detached' })
  expect(problems).toEqual([])
})

test('the usage chart zooms by dragging and by keyboard, and keeps the zoom in the URL', async ({ stack, visit }) => {
  const owner = await consoleOwner(stack)
  expect((await chat(stack, owner)).status).toBe(200)
  const { page, problems } = await signedInAt(visit, owner, `${owner.home}/usage`)
  const chart = region(page, 'Usage').getByRole('slider', { name: 'Spend per day' })
  const box = (await chart.boundingBox())!
  await page.mouse.move(box.x + box.width * 0.9, box.y + 50)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width - 2, box.y + 50, { steps: 4 })
  await page.mouse.up()
  await page.getByText(/per hour \(/).waitFor()
  const zoomed = () => new URL(page.url()).searchParams
  const hours = () => (Date.parse(zoomed().get('to')!) - Date.parse(zoomed().get('from')!)) / 3_600_000
  expect(hours()).toBeGreaterThan(24)
  const byHour = region(page, 'Usage').getByRole('slider', { name: 'Spend per hour' })
  for (const key of ['End', 'Shift+ArrowLeft', 'Enter']) await byHour.press(key)
  await expect.poll(hours).toBe(2)
  await page.reload()
  await page.getByText(/^Range: /).waitFor()
  expect(hours()).toBe(2)
  expect(await hindrances(page)).toEqual([])
  await page.getByRole('button', { name: /^Remove filter range/ }).click()
  await page.getByText(/per day \(/).waitFor()
  expect([...zoomed().keys()]).not.toContain('from')
  expect(problems).toEqual([])
})
