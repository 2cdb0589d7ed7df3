import path from 'node:path'
import { expect } from 'vitest'
import { openBrowser, type Page } from '@gateway/testbed/open-browser'
import { startInProcess } from '@gateway/testbed/service-in-process'
import { callerOf, consoleTest } from '../../console.fixture.ts'
import { CLIENT, startProvider, untilReached } from './provider.fixture.ts'

// Users return to the address they wanted after signing in. Runs in a browser, with a provider on another site.

const PASSWORD = 'correct horse battery'
const LONGEST_WAIT_MS = 60_000
/** The same timeout as scenarios, which also use browsers. */
const inBrowser = { timeout: 180_000 }

const test = consoleTest
  .extend('console', { scope: 'file' }, async ({ database, ledger, folder, services }, { onCleanup }) => {
    const program = await startInProcess({
      name: 'console',
      service: 'console',
      folder,
      env: {
        DATABASE_URL: database.consoleUrl,
        LEDGER_URL: ledger.url,
        SERVICE_PRIVATE_KEY: services.secrets.console,
        SECOND_FACTOR_KEY: 'k'.repeat(32),
        ASSETS_FOLDER: path.join(folder, 'assets'),
      },
    })
    onCleanup(program.stop)
    return program
  })
  .extend('provider', { scope: 'file' }, async ({ console }, { onCleanup }) => {
    const publicUrl = `http://localhost:${new URL(console.url).port}` // for cookies a different site than 127.0.0.1
    const provider = await startProvider({ redirectUri: `${publicUrl}/api/v2/session/oidc/callback` })
    onCleanup(provider.stop)
    await console.stop()
    await console.start({
      PUBLIC_URL: publicUrl,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
    })
    await untilReached(console.url)
    return { ...provider, publicUrl }
  })
  // oxlint-disable-next-line no-empty-pattern -- vitest reads the needed fixtures from this pattern
  .extend('browser', { scope: 'file' }, async ({}, { onCleanup }) => {
    const browser = await openBrowser()
    onCleanup(() => browser.close())
    return browser
  })
  .extend('page', async ({ browser }, { onCleanup }) => {
    const context = await browser.newContext()
    context.setDefaultTimeout(LONGEST_WAIT_MS)
    onCleanup(() => context.close())
    return context.newPage()
  })
  /** A user with a project whom the provider knows, and an address deep in the console. */
  .extend('owner', async ({ console, provider, stack }) => {
    const email = `${stack.owner.id}@example.test`
    const { status } = await callerOf(console.url, stack.owner.id, stack.owner.token).put('/api/v2/me/password', {
      password: PASSWORD,
    })
    expect(status).toBe(204)
    return {
      email,
      sit: () => provider.sit(stack.owner.id, { email, email_verified: true }),
      address: `${provider.publicUrl}/console/projects/${stack.tenant}/${stack.project}/calls?state=Released&since=day`,
      keys: `${provider.publicUrl}/console/projects/${stack.tenant}/${stack.project}/keys`,
    }
  })

const byProvider = (page: Page) => page.getByRole('link', { name: /^Continue with single sign-on/ })

/** Expects the page to show what its address says. */
async function isThere(page: Page, address: string): Promise<void> {
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
  await page.getByText('State: Released').waitFor()
  expect(page.url()).toBe(address)
}

/** Simulates the user coming back to a tab. */
const comeBackTo = async (page: Page) => {
  await page.bringToFront()
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
}

test(
  'a deep link into the console opens after signing in at the provider, with its filters',
  inBrowser,
  async ({ owner, page }) => {
    owner.sit()
    await page.goto(owner.address)
    await byProvider(page).click()
    await isThere(page, owner.address)
    await page.goBack()
    await page.goForward()
    await isThere(page, owner.address)
  },
)

test(
  'a user refused by the provider sees the reason and can start again at the same address',
  inBrowser,
  async ({ owner, provider, page }) => {
    provider.sit('')
    await page.goto(owner.address)
    await byProvider(page).click()
    await page.getByText('The sign-in provider did not sign you in (access_denied).').waitFor()
    await page.getByText('Begin again from the console.').waitFor()
    owner.sit()
    await page.getByRole('link', { name: 'Begin again' }).click()
    await byProvider(page).click()
    await isThere(page, owner.address)
  },
)

test('a deep link opens after signing in with a password', inBrowser, async ({ owner, page }) => {
  await page.goto(owner.address)
  await page.getByLabel('Email').fill(owner.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await isThere(page, owner.address)
})

test(
  'signing in again in another tab after the session ended keeps typed input, for the same user only',
  inBrowser,
  async ({ owner, provider, signIn, page }) => {
    owner.sit()
    await page.goto(owner.keys)
    await byProvider(page).click()
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const name = page.getByRole('dialog', { name: 'Create key' }).getByLabel('Name', { exact: true })
    await name.fill('typed before')
    const endSession = async () => {
      await page.context().clearCookies()
      await comeBackTo(page)
      const [tab] = await Promise.all([page.waitForEvent('popup'), byProvider(page).click()])
      await tab.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
      await tab.close()
      await comeBackTo(page)
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' })
    }
    await endSession()
    expect(await name.inputValue()).toBe('typed before')

    const other = await signIn()
    provider.sit(other.id, { email: `${other.id}@example.test`, email_verified: true })
    await endSession()
    await expect.poll(() => name.inputValue()).toBe('') // another user does not see the typed input
  },
)

test(
  'an invited user joins through single sign-on from the link, and only with the invited email',
  inBrowser,
  async ({ stack, provider, page }) => {
    const email = `guest.${stack.tenant}@example.test`
    const made = await stack.owner.post(`${stack.path}/invitations`, { email })
    const link = made.body.link as string
    const byInvitation = page.getByRole('button', { name: 'Continue with single sign-on' })
    provider.sit('someone-else', { email: `else.${email}`, email_verified: true })
    await page.goto(link)
    await byInvitation.click()
    await page.getByText(`There is no account for the email else.${email}.`).waitFor()

    await page.context().clearCookies() // ends the session at the provider
    provider.sit('guest', { email, email_verified: true, name: 'Grace Hopper' })
    await page.goto(link)
    await byInvitation.click()
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
    const members = (await stack.owner.get(`${stack.path}/members`)).body.data as { email: string; name: string }[]
    expect(members).toContainEqual(expect.objectContaining({ email, name: 'Grace Hopper', role: 'Member' }))
    await page.goto(link)
    await page.getByText('This link was used, replaced or revoked', { exact: false }).waitFor()
  },
)
