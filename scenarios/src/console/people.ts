import { callerAt } from '../caller.ts'
import type { Stack } from '../stack.ts'
import type { Page } from './browser.ts'

export const PASSWORD = 'correct horse battery'

/** A tenant that can call, whose owner has a password, and where the console shows its project. */
export async function consoleOwner(stack: Stack, funds = 5_000_000n) {
  const tenant = await stack.tenant(funds)
  const { url } = stack.gateways[0]!
  const person = callerAt(url, (await stack.fixture.token(tenant.owner)).secret)
  await person.ask('PUT', '/api/v2/me/password', { password: PASSWORD })
  const start = `${url}/console`
  return {
    ...tenant,
    email: `${tenant.owner}@example.test`,
    start,
    home: `${start}/projects/${tenant.project.tenant}/${tenant.project.id}`,
  }
}

/** Fills in the form of the page, and sends it. */
export async function signIn(page: Page, { email }: { email: string }, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
