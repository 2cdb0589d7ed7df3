import { expect } from 'vitest'
import { appCode } from './src/app-code.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import { hindrances, type Page } from './src/console/browser.ts'
import { consoleOperator, consoleOwner, consoleUser, setUpApp, signIn, signedInAt } from './src/console/users.ts'
import { chooseAction, signOut } from './src/console/widgets.ts'

// The second factor, sessions and operators in a browser, against the whole stack.

const region = (page: Page, name: string) => page.getByRole('region', { name })

test('a user sets up an authenticator app, then signs in with its code and with a recovery code', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page, problems } = await signedInAt(visit, owner, `${owner.start}/account`)
  const { secret, recoveryCodes } = await setUpApp(page, {
    look: async () => expect(await hindrances(page)).toEqual([]),
  })
  await region(page, 'Two-factor authentication').getByText('Unused recovery codes: 10').waitFor()
  await region(page, 'Sessions').getByText('(this one)').waitFor()

  await page.goto(owner.start)
  await signOut(page)
  await signIn(page, owner)
  await page.getByLabel('Code').fill('000000')
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText('This code is incorrect').waitFor()
  expect(await hindrances(page)).toEqual([])
  await page.reload() // the code is still what the sign-in lacks
  await page.getByLabel('Code').fill(appCode(secret, 1))
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()

  await signOut(page)
  await signIn(page, owner)
  await page.getByRole('button', { name: 'Start again' }).click()
  await signIn(page, owner)
  await page.getByLabel('Code').fill(recoveryCodes[0]!)
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
  await page.goto(`${owner.start}/account`)
  await region(page, 'Two-factor authentication').getByText('Unused recovery codes: 9').waitFor()
  expect(problems).toEqual([])
})

test('an organization that requires a second factor leads its members to set one up [second_factor_required]', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const grace = await consoleUser(stack, await stack.fixture.issuer(owner.project))
  const { page } = await signedInAt(visit, owner, `${owner.start}/account`)
  await setUpApp(page)
  const members = `${owner.start}/organizations/${owner.project.tenant}/members`
  await page.goto(members)
  await region(page, 'Two-factor authentication').getByRole('button', { name: 'Require' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Require second factor' }).click()
  await page.getByRole('button', { name: 'Stop requiring' }).waitFor()

  const { page: hers, problems } = await signedInAt(visit, grace, owner.home)
  await hers.getByText('second_factor_required').first().waitFor()
  await hers.getByRole('link', { name: 'Set up an authenticator app' }).click()
  await setUpApp(hers)
  await hers.getByRole('link', { name: 'Set up an authenticator app' }).waitFor({ state: 'detached' })
  await hers.goto(owner.home)
  await hers.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await hers.getByText('second_factor_required').waitFor({ state: 'detached' })
  expect(problems).toEqual([])
})

test('signing out everywhere ends a session in another browser, and ending one ends that one', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page: other } = await signedInAt(visit, owner, owner.start)
  const { page } = await signedInAt(visit, owner, `${owner.start}/account`)
  await other.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
  await region(page, 'Sessions')
    .getByRole('button', { name: /^Sign out .* at / })
    .click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await other.reload()
  await signIn(other, owner)
  await other.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
  await page.getByLabel('Email').waitFor()
  await other.reload()
  await other.getByLabel('Email').waitFor()
})

test('an operator disables a user, and makes another one an operator', async ({ stack, visit }) => {
  const [operator, owner] = [await consoleOperator(stack), await consoleOwner(stack)]
  const { page: theirs } = await signedInAt(visit, owner, owner.start)
  await theirs.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()
  const { page, problems } = await signedInAt(visit, operator, `${operator.start}/operator/users`)
  await page.getByRole('table', { name: 'Platform operators' }).waitFor()
  await page.getByLabel('Email').fill(owner.email)
  await page.getByRole('button', { name: 'Find user' }).click()
  const found = page.getByRole('table', { name: 'Found user' })
  await chooseAction(found, 'Disable')
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await found.getByText('Disabled').waitFor()
  await theirs.reload()
  await theirs.getByLabel('Email').waitFor()
  await chooseAction(found, 'Enable')
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
  await found.getByText('Active').waitFor()
  await chooseAction(found, 'Make operator')
  await page.getByRole('dialog').getByRole('button', { name: 'Make operator' }).click()
  await page.getByRole('table', { name: 'Platform operators' }).getByText(owner.email).waitFor()
  expect(problems).toEqual([])
})
