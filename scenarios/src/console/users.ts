import { appCode } from '../app-code.ts'
import { callerAt } from '../caller.ts'
import type { Stack } from '../stack.ts'
import type { openPage, Page, View } from './browser.ts'
import { choose } from './widgets.ts'

export const PASSWORD = 'correct horse battery'

/** Gives a user a password. Returns their email, the console URL, and a caller with a personal token. */
export async function consoleUser(stack: Stack, id: string) {
  const { url } = stack.gateways[0]!
  const caller = callerAt(url, (await stack.fixture.token(id)).secret)
  await caller.ask('PUT', '/api/v2/me/password', { password: PASSWORD })
  return { email: `${id}@example.test`, start: `${url}/console`, caller }
}

/** A funded tenant whose owner has a password, with the console URL of its project. */
export async function consoleOwner(stack: Stack, funds = 5_000_000n) {
  const tenant = await stack.tenant(funds)
  const user = await consoleUser(stack, tenant.owner)
  return { ...tenant, ...user, home: `${user.start}/projects/${tenant.project.tenant}/${tenant.project.id}` }
}

/** A platform operator with a password and without an organization. */
export async function consoleOperator(stack: Stack) {
  return consoleUser(stack, await stack.fixture.user({ platformOperator: true }))
}

/** Fills in and submits the sign-in form. */
export async function signIn(page: Page, { email }: { email: string }, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** Opens an address in a new page and signs the user in. */
export async function signedInAt<Opened extends Pick<Awaited<ReturnType<typeof openPage>>, 'page'>>(
  visit: (view?: View) => Promise<Opened>,
  user: { email: string },
  address: string,
  view?: View,
): Promise<Opened> {
  const opened = await visit(view)
  await opened.page.goto(address)
  await signIn(opened.page, user)
  return opened
}

/** Invites an email on the page of members, and returns the link. */
export async function inviteOn(page: Page, email: string, role = 'Member'): Promise<string> {
  await page.getByRole('button', { name: 'Invite user' }).click()
  await page.getByLabel('Email').fill(email)
  await choose(page, 'Role', role)
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const shown = page.getByRole('dialog', { name: `Invitation for ${email}` })
  const link = await shown.locator('pre').innerText()
  await shown.getByRole('button', { name: 'Done' }).click()
  return link
}

/** Accepts an invitation as a new user, on the page that its link opened. */
export async function acceptOn(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account and join' }).click()
  await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor()
}

/**
 * Sets up an authenticator app on the account page. Returns its secret and the recovery codes.
 * @param password empty for a user who has none
 * @param look called when the dialog shows its QR code
 */
export async function setUpApp(
  page: Page,
  { password = PASSWORD, look }: { password?: string; look?: () => Promise<void> } = {},
) {
  await page.getByRole('button', { name: 'Set up authenticator app' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set up authenticator app' })
  await dialog.getByLabel('Current password').fill(password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
  await look?.()
  const secret = await dialog.locator('pre').innerText()
  await dialog.getByLabel('Code from the app').fill('000000')
  await dialog.getByRole('button', { name: 'Turn on' }).click()
  await dialog.getByText('This code is incorrect').waitFor()
  await dialog.getByLabel('Code from the app').fill(appCode(secret))
  await dialog.getByRole('button', { name: 'Turn on' }).click()
  const codes = page.getByRole('dialog', { name: 'Recovery codes' })
  const recoveryCodes = (await codes.locator('pre').innerText()).split('\n')
  await codes.getByRole('button', { name: 'I stored the codes' }).click()
  return { secret, recoveryCodes }
}
