import { expect } from 'vitest'
import { consoleTest as test } from './src/console/console-test.ts'
import { type Page } from './src/console/browser.ts'
import { consoleOwner, PASSWORD, signIn } from './src/console/users.ts'
import { chat } from './src/stack.ts'
import { choose, chooseAction, dialogClosed } from './src/console/widgets.ts'

// The console in a browser, through a gateway, against the whole service.

const dollars = (micro: bigint) => `$${(Number(micro) / 1e6).toFixed(6)}`
const screen = (page: Page, title: string) => page.getByRole('heading', { name: title, level: 1 })

test('a user signs in, creates a key, calls with it, sees the cost, and revokes the key [key_revoked]', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack)
  const { page, problems } = await visit()
  await page.goto(tenant.home)
  await signIn(page, tenant)
  const wallet = page.getByRole('region', { name: 'Wallet' })
  await wallet.getByText('$5.00').waitFor()

  await page.getByRole('link', { name: 'API keys', exact: true }).click()
  await page.getByRole('button', { name: 'Create key' }).click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name', { exact: true }).fill('website')
  await form.getByLabel('Spending limit (USD)').fill('2.5')
  await form.getByRole('button', { name: 'Create key' }).click()
  const shown = page.getByRole('dialog', { name: 'Secret for website' })
  const secret = await shown.locator('pre').first().innerText()
  const command = shown.locator('pre').nth(1).filter({ hasText: tenant.model })
  expect(await command.innerText()).toContain(`Bearer ${secret}`)
  await shown.getByRole('button', { name: 'Done' }).click()

  const key = { ...tenant.key, secret }
  const answer = await chat(stack, { key, model: tenant.model })
  expect(answer.status).toBe(200)

  await page.getByRole('link', { name: 'Calls', exact: true }).click()
  const row = page.getByRole('row', { name: /website/ })
  await row.getByText('Charged').waitFor()
  const { settled } = await stack.wallet(tenant.project.id)
  await row.getByText(dollars(settled)).waitFor()
  await row.getByRole('link').click()
  await page.getByRole('link', { name: 'Open in playground' }).waitFor()
  await page.getByRole('link', { name: 'All calls' }).click()
  await page.getByRole('button', { name: 'Live: off' }).click()
  await page.getByRole('button', { name: 'Live: on' }).waitFor()
  const search = page.getByLabel('Call, request, execution or key ID')
  await search.fill(answer.headers.get('x-request-id')!)
  await search.press('Enter')
  await page.getByText(answer.headers.get('x-service-invocation')!).first().waitFor()
  const sum = page.getByRole('region', { name: 'Cost breakdown' })
  await sum.getByText('completion tokens').waitFor()
  expect(await sum.locator('strong').innerText()).toBe(dollars(settled))

  await page.getByRole('link', { name: 'API keys', exact: true }).click()
  await page
    .getByRole('row')
    .filter({ hasText: `${dollars(settled)} of $2.50 per day` })
    .waitFor()
  await chooseAction(page, 'Revoke', 'website')
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await dialogClosed(page)
  await page.getByRole('row', { name: /website/ }).waitFor({ state: 'detached' })
  const refused = await chat(stack, { key, model: tenant.model })
  expect(await refused.json()).toMatchObject({ error: { code: 'key_revoked' } })
  expect(problems).toEqual([])
})

test('an empty project shows the first steps, and the overview updates when the first call arrives', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack)
  const { page } = await visit()
  await page.goto(tenant.home)
  await signIn(page, tenant)
  const steps = page.getByRole('region', { name: 'First steps' })
  await steps.getByText('Make a call').waitFor()
  await chat(stack, tenant)
  await page.getByRole('region', { name: 'Latest calls' }).getByText(tenant.model).waitFor()
  await steps.getByText('Make a call (done)').waitFor()
  await steps.getByRole('button', { name: 'Hide' }).click()
  await steps.waitFor({ state: 'detached' })
})

test('the old secret keeps working during the grace period after a rotation', async ({ stack, visit }) => {
  const tenant = await consoleOwner(stack)
  const { page } = await visit()
  await page.goto(`${tenant.home}/keys`)
  await signIn(page, tenant)
  await chooseAction(page, 'Rotate', 'a key')
  await choose(page, 'Old secret stops working', 'In 1 hour')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const secret = await page.getByRole('dialog', { name: 'Secret for a key' }).locator('pre').first().innerText()
  expect((await chat(stack, { ...tenant, key: { ...tenant.key, secret } })).status).toBe(200)
  expect((await chat(stack, tenant)).status).toBe(200)
})

test('a key test shows which rule would refuse a call, without a reservation [insufficient_budget]', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack, 10n)
  const { page } = await visit()
  await page.goto(`${tenant.home}/keys`)
  await signIn(page, tenant)
  await chooseAction(page, 'Test', 'a key')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Test', exact: true }).click()
  await dialog
    .getByRole('listitem')
    .filter({ hasText: 'The cost fits the wallet balance' })
    .getByText('Failed')
    .waitFor()
  expect((await stack.wallet(tenant.project.id)).reserved).toBe(0n)
})

test('the overview counts refusals by code and shows the latest request ID [insufficient_budget]', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack, 10n)
  const refused = await chat(stack, tenant)
  expect(await refused.json()).toMatchObject({ error: { code: 'insufficient_budget' } })
  const { page, problems } = await visit()
  await page.goto(tenant.home)
  await signIn(page, tenant)
  const section = page.getByRole('region', { name: 'Refused calls' })
  await section.getByText('402 insufficient_budget').waitFor() // arrives by polling: gateways report refusals once a second
  await section.getByText(refused.headers.get('x-request-id')!).waitFor()
  expect(problems).toEqual([])
})

// spec: 2.1/r9, can/console
test('keys without a project are listed first until they are revoked', async ({ stack, visit }) => {
  const tenant = await consoleOwner(stack)
  await stack.fixture.key({ project: null, tenant: tenant.project.tenant, by: tenant.owner })
  const { page } = await visit()
  await page.goto(`${tenant.home}/keys`)
  await signIn(page, tenant)
  const group = page.getByRole('region', { name: 'Needs reissue' })
  await group.getByRole('button', { name: 'Revoke a key' }).click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await dialogClosed(page)
  await group.waitFor({ state: 'detached' })
})

test('the monthly statement adds up to the wallet balance, to the micro-USD', async ({ stack, visit }) => {
  const tenant = await consoleOwner(stack)
  for (let call = 0; call < 3; call++) expect((await chat(stack, tenant)).status).toBe(200)
  const { settled } = await stack.wallet(tenant.project.id)
  const { page, problems } = await visit()
  await page.goto(`${tenant.home}/statement`)
  await signIn(page, tenant)
  const balance = page.getByRole('region', { name: 'Monthly balance' })
  const shownMicro = async (line: RegExp) => {
    const amount = balance.getByRole('row', { name: line }).getByTitle(/micro-USD/)
    return Number((await amount.getAttribute('title'))!.replace(' micro-USD', '').replaceAll(',', ''))
  }
  const [opening, funded, corrected, charged, now] = [
    await shownMicro(/^Opening/),
    await shownMicro(/^Funded/),
    await shownMicro(/^Corrected/),
    await shownMicro(/^Charged for 3 calls/),
    await shownMicro(/^Now/),
  ]
  expect(opening + funded + corrected + charged).toBe(now)
  expect([BigInt(-charged), funded]).toEqual([settled, 5_000_000])
  await page.getByText('Wallet, journal, funding and corrections agree').waitFor()
  await page.getByRole('link', { name: 'Previous month' }).click()
  await page.getByText('No activity this month').waitFor()
  expect(new URL(page.url()).searchParams.get('month')).toMatch(/^\d{4}-\d{2}$/)
  await page.goBack()
  await balance.getByRole('row', { name: /^Now/ }).waitFor()
  expect(problems).toEqual([])
})

test('usage shows charges by model, key and flow, to the micro-USD', async ({ stack, visit }) => {
  const tenant = await consoleOwner(stack)
  for (let call = 0; call < 3; call++) expect((await chat(stack, tenant)).status).toBe(200)
  const { settled } = await stack.wallet(tenant.project.id)
  const { page, problems } = await visit()
  await page.goto(`${tenant.home}/usage`)
  await signIn(page, tenant)
  const usage = page.getByRole('region', { name: 'Usage' })
  for (const [by, name] of [
    ['By model', tenant.model],
    ['By key', 'a key'],
    ['By flow', 'direct calls'],
  ] as const) {
    await choose(page, 'Group by', by)
    const row = usage.getByRole('row', { name })
    const charged = await row.getByTitle(/micro-USD/).getAttribute('title')
    expect([by, BigInt(charged!.replaceAll(/\D/g, ''))]).toEqual([by, settled])
  }
  await choose(page, 'Time', 'Last 24 hours')
  await usage.getByText(/per hour \(/).waitFor()
  expect(new URL(page.url()).searchParams.get('range')).toBe('day')
  const chart = usage.getByRole('slider', { name: 'Spend per hour' })
  await chart.press('End')
  expect(await chart.getAttribute('aria-valuetext')).toContain(`Direct calls ${dollars(settled)}`)
  expect(await usage.locator('.chart-card').innerText()).toContain(dollars(settled))
  await page.getByRole('navigation', { name: 'Metric' }).getByRole('link', { name: 'Calls' }).click()
  await usage.getByRole('slider', { name: 'Calls per hour' }).press('End')
  await usage.locator('.chart-card').getByText('3', { exact: true }).first().waitFor()
  await choose(page, 'Time', 'Last month')
  await page.getByText('No usage in this period').waitFor()
  await page.getByLabel('Last day').fill(new Date().toISOString().slice(0, 10))
  await usage.getByRole('slider', { name: 'Calls per day' }).waitFor()
  expect(await page.evaluate('document.querySelectorAll("style").length')).toBe(0)
  expect(problems).toEqual([])
})

test('a link to an inaccessible project shows the error and its request ID [not_found]', async ({ stack, visit }) => {
  const [tenant, other] = [await consoleOwner(stack), await consoleOwner(stack)]
  const { page } = await visit()
  await page.goto(`${other.home}/calls`)
  await signIn(page, tenant)
  const refusal = page.getByRole('alert').first()
  await refusal.getByText('not_found').waitFor()
  expect(await refusal.getByText(/^Request/).innerText()).toMatch(/req_/)
})

test('a wrong password shows an error, keeps the email, and focuses the password field [sign_in_failed]', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack)
  const { page } = await visit()
  await page.goto(tenant.home)
  await signIn(page, tenant, 'not the password')
  await page.getByRole('alert').getByText('sign_in_failed').waitFor()
  expect(await page.getByLabel('Email').inputValue()).toBe(tenant.email)
  expect(await page.evaluate('document.activeElement.name')).toBe('password')
})

test('an expired session asks for the password in a dialog and keeps the open form [session_missing]', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack)
  const { page } = await visit()
  await page.goto(`${tenant.home}/keys`)
  await signIn(page, tenant)
  await page.getByRole('button', { name: 'Create key' }).click()
  const form = page.getByRole('dialog', { name: 'Create key' })
  await form.getByRole('button', { name: 'Create key' }).click()
  await form.getByText('Required.').waitFor()
  expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Name')
  await form.getByLabel('Name', { exact: true }).fill('typed before')
  await form.getByText('Required.').waitFor({ state: 'detached' })
  await page.mouse.click(5, 5) // outside: asks first
  await page.getByRole('dialog', { name: 'Unsaved changes' }).getByRole('button', { name: 'Stay' }).click()
  await page.context().clearCookies()
  // A background request may detect the expired session first.
  await form.getByRole('button', { name: 'Create key' }).dispatchEvent('click')
  const again = page.getByRole('dialog', { name: 'Your session has ended' })
  await again.getByLabel('Password').fill(PASSWORD)
  await again.getByRole('button', { name: 'Sign in' }).click()
  await again.waitFor({ state: 'detached' })
  await form.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog', { name: 'Secret for typed before' }).waitFor()
})

test('a chosen theme persists regardless of the system setting', async ({ stack, visit }) => {
  const tenant = await consoleOwner(stack)
  const { page } = await visit()
  await page.goto(tenant.start)
  await signIn(page, tenant)
  await page.getByRole('button', { name: 'Theme' }).click()
  await page.getByRole('menuitemradio', { name: 'Dark' }).click()
  const ground = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
  const dark = await ground()
  await page.reload()
  await screen(page, 'Projects').waitFor()
  expect(await ground()).toBe(dark)
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
})

test('the gateway serves the compressed console page unchanged', async ({ stack }) => {
  const url = `${stack.gateways[0]!.url}/console`
  const headers = { Accept: 'text/html', 'Accept-Encoding': 'br' }
  const [answer, direct] = [await fetch(url, { headers }), await fetch(`${stack.console!.url}/console`, { headers })]
  expect(answer.headers.get('Content-Encoding')).toBe('br')
  expect(answer.headers.get('ETag')).toBe(direct.headers.get('ETag'))
  expect(await answer.text()).toBe(await direct.text())
})
