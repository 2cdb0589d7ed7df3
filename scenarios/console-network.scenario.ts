import { expect } from 'vitest'
import { consoleTest as test } from './src/console/console-test.ts'
import { intercept } from './src/console/browser.ts'
import { ownedFlow } from './src/console/owned-flow.ts'
import { consoleOwner, signIn, signedInAt } from './src/console/users.ts'

// The console before its scripts arrive, without a connection, and in front of a service that fails.

test('the frame stands before the first script arrives, and the screen fills it', async ({ stack, visit }) => {
  const owner = await consoleOwner(stack)
  const { page, problems } = await signedInAt(visit, owner, owner.home)
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  const scripts = Promise.withResolvers<void>()
  const isScript = ({ pathname }: URL) => pathname.endsWith('.js')
  await page.route(isScript, async (route) => {
    await scripts.promise
    await route.continue()
  })
  const opening = page.goto(`${owner.home}/calls`)
  await page.locator('.frame .rail .brand').waitFor()
  await page.locator('main .skeleton').waitFor()
  expect(await page.locator('main h1').count()).toBe(0)
  scripts.resolve()
  await opening
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
  await page.locator('.wallet-chip').waitFor()
  expect(problems).toEqual([])
})

test('a page whose scripts do not arrive says so, and opens once it is reloaded', async ({ stack, visit }) => {
  const { page } = await visit()
  const isScript = ({ pathname }: URL) => pathname.endsWith('.js')
  await page.route(isScript, (route) => route.abort('internetdisconnected'))
  await page.goto((await consoleOwner(stack)).home)
  const reload = page.getByRole('link', { name: 'reload the page' })
  await reload.waitFor()
  await page.unroute(isScript)
  await reload.click()
  await page.getByLabel('Email').waitFor()
})

test('without a line, or with a failing service, the frame stays, and Retry reads what could not be read', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page } = await signedInAt(visit, owner, owner.home)
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  const frame = page.getByRole('navigation', { name: 'Console' })
  const rail = (name: string) => frame.getByRole('link', { name, exact: true })
  const calls = (url: URL) => url.pathname.endsWith('/invocations')
  const retry = page.locator('main').getByRole('button', { name: 'Retry' })

  await intercept(page, calls, (route) => route.fulfill({ status: 500, body: 'broken' }))
  await rail('Calls').click()
  await page.locator('main').getByRole('alert').waitFor()
  await frame.waitFor()
  await page.unroute(calls)
  await retry.first().click()
  await page.getByText('No calls yet').waitFor()
  expect(await page.locator('main').getByRole('alert').count()).toBe(0)

  await page.context().setOffline(true)
  await rail('Statement').click() // its code was not fetched yet
  await page.getByRole('heading', { name: 'Screen not loaded' }).waitFor()
  await page.getByText('Check the connection and try again.').first().waitFor()
  await frame.waitFor()
  await page.context().setOffline(false)
  await retry.first().click()
  await page.getByRole('heading', { name: 'Statement', level: 1 }).waitFor()
  await page.getByRole('region', { name: 'Monthly balance' }).waitFor()
})

test('a first visit to a failing service shows the frame, and Retry opens the screen', async ({ stack, visit }) => {
  const owner = await consoleOwner(stack)
  const { page } = await visit()
  const me = (url: URL) => url.pathname === '/api/v2/me'
  await page.route(me, (route) => route.fulfill({ status: 500, body: 'broken' }))
  await page.goto(owner.home)
  await page.getByRole('alert').waitFor()
  await page.getByText('Model Gateway').first().waitFor()
  await page.unroute(me)
  await page.getByRole('button', { name: 'Retry' }).click()
  await signIn(page, owner)
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
})

test('an open form keeps every character while the service is away, and is sent when it is back', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page } = await signedInAt(visit, owner, `${owner.home}/keys`)
  await page.getByRole('button', { name: 'Create key' }).click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  const name = form.getByLabel('Name', { exact: true })
  await name.fill('typed before the line broke')
  await page.context().setOffline(true)
  await form.getByRole('button', { name: 'Create key' }).click()
  await form.getByRole('alert').getByText('could not be reached').waitFor()
  await name.press('End')
  await name.pressSequentially(', and after')
  await page.context().setOffline(false)
  await form.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog', { name: 'Secret for typed before the line broke, and after' }).waitFor()
})

test('a flow keeps every change while it cannot be saved', async ({ stack, visit }) => {
  const { owner, address, saved } = await ownedFlow(stack)
  const { page } = await signedInAt(visit, owner, address)
  await page.getByRole('group', { name: 'Template ask' }).click()
  const text = page.getByLabel('Text', { exact: true })
  await text.fill('Written offline about {{ text }}.')
  const revisions = (url: URL) => url.pathname.endsWith('/revisions')
  await intercept(page, revisions, (route) => route.fulfill({ status: 500, body: 'broken' }))
  await page.keyboard.press('Control+s')
  await page.getByRole('alert').first().waitFor()
  expect(await text.innerText()).toBe('Written offline about {{ text }}.')
  await page.unroute(revisions)
  await page.keyboard.press('Control+s')
  await page.getByText('Revision 2', { exact: true }).waitFor()
  expect((await saved())[0]!.nodes[1]).toMatchObject({ template: 'Written offline about {{ text }}.' })
})
