import { expect } from 'vitest'
import { consoleTest as test } from './src/console/console-test.ts'
import { hindrances, isTooWide, views, type Page } from './src/console/browser.ts'
import { acceptOn, consoleOwner, consoleUser, inviteOn, PASSWORD, signIn } from './src/console/users.ts'
import { chat, type Stack } from './src/stack.ts'
import { choose, chooseAction, dialogClosed } from './src/console/widgets.ts'

// Users, teams, roles and tokens in a browser, against the whole service.

const codeOf = async (answer: Response) => ((await answer.json()) as { error?: { code: string } }).error?.code

/** A project owner who is also an Admin, and Grace, who has created a key in the same project. */
async function ownerAndGrace(stack: Stack) {
  const owner = await consoleOwner(stack)
  const grace = await stack.fixture.issuer(owner.project)
  await stack.fixture.run(`UPDATE control.users SET name = 'Grace' WHERE id = $1`, [grace])
  const key = await stack.fixture.key({ project: owner.project, by: grace })
  const { email } = await consoleUser(stack, grace)
  const organization = `${owner.start}/organizations/${owner.project.tenant}`
  return { owner, organization, grace: { id: grace, email, key } }
}

const row = (page: Page, name: string | RegExp) => page.getByRole('row', { name })

test('removing a role lists the keys that stop working and refuses their next call [key_issuer_denied]', async ({
  stack,
  visit,
}) => {
  const { owner, grace } = await ownerAndGrace(stack)
  const call = () => chat(stack, { key: grace.key, model: owner.model })
  expect((await call()).status).toBe(200)
  const { page, problems } = await visit()
  await page.goto(`${owner.home}/users`)
  await signIn(page, owner)
  await row(page, /Grace/).getByText('Direct grant, Team Member of').waitFor()
  await chooseAction(page, 'Remove access', 'Grace')
  const dialog = page.getByRole('dialog', { name: 'Remove access for Grace?' })
  await dialog.getByRole('list', { name: 'Keys that stop working' }).getByText('a key').waitFor()
  await dialog.getByRole('button', { name: 'Remove access' }).click()
  await row(page, /Grace/).getByText('needs the Project Owner or Project Consumer role').waitFor()
  expect(await codeOf(await call())).toBe('key_issuer_denied')

  await page.getByRole('button', { name: 'Add user' }).click()
  await choose(page, 'User', /^Grace /)
  await page.getByRole('dialog').getByRole('button', { name: 'Add user' }).click()
  await row(page, /Grace/).getByText('Project Consumer', { exact: true }).waitFor()
  expect((await call()).status).toBe(200)
  await chooseAction(page, 'Change role', 'Grace')
  await choose(page, 'Role', 'Project Viewer')
  await page.getByRole('dialog').getByText('1 key created by Grace will stop working').waitFor()
  expect(await hindrances(page)).toEqual([])
  await page.getByRole('button', { name: 'Change role', exact: true }).click()
  await row(page, /Grace/).getByText('Project Viewer', { exact: true }).waitFor()
  expect(await codeOf(await call())).toBe('key_issuer_denied')
  expect(problems).toEqual([])
})

test.for(views)(
  'the Users page is read-only without permission to manage access, at $width pixels',
  async (view, { stack, visit }) => {
    const { owner, grace } = await ownerAndGrace(stack)
    const { page, problems } = await visit(view)
    await page.goto(`${owner.home}/users`)
    await signIn(page, grace)
    await page.getByText('Only a Project Owner can manage access.').waitFor()
    await row(page, /Grace/).waitFor()
    expect(await page.getByRole('button', { name: /Actions for|Add user/ }).count()).toBe(0)
    expect([await hindrances(page), await isTooWide(page), problems]).toEqual([[], false, []])
  },
)

test('a new member sees what they lack for keys, calls with a key until access is removed, and the audit log has each step [key_issuer_denied] [not_permitted]', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const organization = `${owner.start}/organizations/${owner.project.tenant}`
  const email = `grace.${owner.owner}@example.test`
  const { page, problems } = await visit()
  await page.goto(`${organization}/members`)
  await signIn(page, owner)
  const link = await inviteOn(page, email)
  const { page: graces, problems: gracesProblems } = await visit()
  await graces.goto(link)
  await acceptOn(graces, 'Grace')
  await page.reload()
  await row(page, /Grace/).getByText('Member', { exact: true }).waitFor()

  await page.getByRole('link', { name: 'Teams', exact: true }).click()
  await page.getByRole('table').getByRole('link').click()
  await page.getByRole('button', { name: 'Add team member' }).click()
  await choose(page, 'User', `Grace (${email})`)
  await page.getByRole('button', { name: 'Add member' }).click()
  await row(page, /Grace/).getByText('Team Member', { exact: true }).waitFor()

  await graces.goto(`${owner.home}/keys?create=true`)
  const lacking = graces.getByText("You can't create keys in this project yet.").locator('..')
  await lacking.getByText('Ask A user (Project Owner) to grant it.').waitFor()
  expect(await lacking.getByRole('listitem').count()).toBe(1)
  expect(await graces.getByRole('button', { name: 'Create key' }).first().isDisabled()).toBe(true)
  expect(await graces.getByRole('dialog').count()).toBe(0)

  await page.goto(`${owner.home}/users`)
  await page.getByRole('button', { name: 'Add user' }).click()
  await choose(page, 'User', `Grace (${email})`)
  await page.getByRole('dialog').getByRole('button', { name: 'Add user' }).click()
  await row(page, /Grace/).getByText('Project Consumer', { exact: true }).waitFor()

  await graces.goto(`${owner.home}/keys?create=true`)
  const form = graces.getByRole('dialog', { name: 'Create key' })
  await form.getByLabel('Name', { exact: true }).fill('website')
  await form.getByRole('button', { name: 'Create key' }).click()
  const secret = await graces.getByRole('dialog', { name: 'Secret for website' }).locator('pre').first().innerText()
  const call = () => chat(stack, { key: { ...owner.key, secret }, model: owner.model })
  expect((await call()).status).toBe(200)

  await chooseAction(page, 'Remove access', 'Grace')
  await page.getByRole('list', { name: 'Keys that stop working' }).getByText('website').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove access' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await codeOf(await call())).toBe('key_issuer_denied')

  await page.getByRole('link', { name: 'Audit log', exact: true }).click()
  for (const [who, what] of [
    ['A user', `invited ${email} as Member`],
    ['Grace', 'accepted an invitation as Member'],
    ['A user', 'added Grace to the team'],
    ['A user', 'granted Grace the role Project Consumer on'],
    ['Grace', 'created the key website in'],
    ['A user', 'removed the role of Grace on'],
  ] as const)
    await row(page, new RegExp(`${who}.*${what}`)).waitFor()
  await choose(page, 'Action', 'removed a role on a project')
  await row(page, /created the key/).waitFor({ state: 'detached' })
  expect(await page.getByRole('row').count()).toBe(2)
  await page.reload()
  await row(page, /removed the role of Grace/).waitFor()
  expect(new URL(page.url()).searchParams.get('action')).toBe('grant.remove')
  await page.setViewportSize({ width: 360, height: 900 })
  expect([await hindrances(page), await isTooWide(page)]).toEqual([[], false])

  await graces.goto(`${organization}/members`)
  await row(graces, /Grace/).waitFor()
  expect(await graces.getByRole('link', { name: /^(Audit log|Service tokens)$/ }).count()).toBe(0)
  expect(await graces.getByRole('button', { name: /Add|Edit|Remove/ }).count()).toBe(0)
  await graces.goto(`${organization}/audit`)
  const refusal = graces.getByRole('alert')
  await refusal.getByText('not_permitted').waitFor()
  expect(await refusal.locator('p').first().innerText()).not.toBe('')
  expect([problems, gracesProblems]).toEqual([[], []])
})

test('teams and projects can be created and deleted, and products assigned and unassigned', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const organization = `${owner.start}/organizations/${owner.project.tenant}`
  const { page, problems } = await visit()
  const done = () => page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.goto(`${organization}/teams`)
  await signIn(page, owner)
  await page.getByRole('button', { name: 'Create team' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Search')
  await page.getByRole('dialog').getByRole('button', { name: 'Create team' }).click()
  await row(page, /Search/)
    .getByText('none')
    .waitFor()

  await page.getByRole('link', { name: 'Projects', exact: true }).click()
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Summaries')
  await choose(page, 'Team', 'Search')
  await page.getByRole('dialog').getByRole('button', { name: 'Create project' }).click()
  await page.getByRole('link', { name: 'Products of Summaries' }).waitFor()
  const head = page.getByRole('columnheader', { name: 'Project', exact: true })
  const names = () => page.getByRole('rowheader').allInnerTexts()
  await head.getByRole('button').click()
  expect(await head.getAttribute('aria-sort')).toBe('ascending')
  const ascending = await names()
  expect(ascending.length).toBeGreaterThan(1)
  expect(ascending).toEqual(ascending.toSorted((a, b) => a.localeCompare(b, 'en')))
  await head.getByRole('button').click()
  expect(await names()).toEqual(ascending.toReversed())
  await page.getByRole('link', { name: 'Products of Summaries' }).click()
  await page.getByText('No products assigned').waitFor()
  await page.getByRole('button', { name: 'Assign product' }).click()
  await choose(page, 'Product', new RegExp(owner.model))
  await page.getByRole('dialog').getByRole('button', { name: 'Assign product' }).click()
  await row(page, new RegExp(owner.model)).getByText('Available').waitFor()
  await page.getByRole('button', { name: /^Unassign/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Unassign product' }).click()
  await page.getByText('No products assigned').waitFor()

  await page.getByRole('link', { name: 'Teams', exact: true }).click()
  await page.getByRole('button', { name: 'Delete Search' }).click()
  await page.getByText('This team owns Summaries.').waitFor()
  expect(await page.getByRole('button', { name: 'Delete team' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('link', { name: 'Projects', exact: true }).click()
  await page.getByRole('button', { name: 'Delete Summaries' }).click()
  await page.getByRole('dialog').getByText('0 active keys').waitFor()
  await page.getByRole('button', { name: 'Delete project' }).click()
  await done()
  expect(await row(page, /Summaries/).count()).toBe(0)
  await page.getByRole('link', { name: 'Teams', exact: true }).click()
  await page.getByRole('button', { name: 'Delete Search' }).click()
  await page.getByRole('button', { name: 'Delete team' }).click()
  await done()
  expect(await row(page, /Search/).count()).toBe(0)
  expect(problems).toEqual([])
})

test('the last Admin cannot give up the role and sees why [last_admin]', async ({ stack, visit }) => {
  const { owner, organization } = await ownerAndGrace(stack)
  const { page } = await visit()
  await page.goto(`${organization}/members`)
  await signIn(page, owner)
  await chooseAction(page, 'Edit', 'A user')
  await choose(page, 'Role', 'Member')
  await page.getByRole('button', { name: 'Change role' }).click()
  await page.getByRole('dialog').getByText('last_admin').waitFor()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Leave' }).click()
  await chooseAction(page, 'Remove', 'Grace')
  await page.getByRole('list', { name: 'Keys that stop working' }).getByText('a key').waitFor()
  expect(await page.getByRole('checkbox', { name: '1 key: a key' }).isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Remove member' }).click()
  await dialogClosed(page)
  await row(page, /Grace/).waitFor({ state: 'detached' })
  const revoked = 'SELECT revoked_at IS NOT NULL AS revoked FROM control.keys WHERE project = $1 AND created_by <> $2'
  expect((await stack.fixture.run(revoked, [owner.project.id, owner.owner])).rows).toEqual([{ revoked: true }])
})

test('an Admin sees who is to become the owner of a project, and objects', async ({ stack, visit }) => {
  const { owner, grace } = await ownerAndGrace(stack)
  await stack.fixture.run(
    `INSERT INTO control.owner_appointments (project, tenant, user_id, appointed_by, effective_at)
     VALUES ($1, $2, $3, $3, now() + interval '3 days')`,
    [owner.project.id, owner.project.tenant, grace.id],
  )
  const { page, problems } = await visit()
  await page.goto(owner.start)
  await signIn(page, owner)
  await page.getByText('Grace appointed Grace as owner').waitFor()
  await page.getByRole('button', { name: 'Object', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Object', exact: true }).click()
  await page.getByText('was objected to').waitFor()
  await page.goto(`${owner.start}/account/security-log`)
  await row(page, /objected to .* as owner/).waitFor()
  expect(problems).toEqual([])
})

test('a personal token works until it is deleted, and a password change ends every session [token_invalid]', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page, problems } = await visit()
  await page.goto(owner.home)
  await signIn(page, owner)
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Account and security' }).click()
  await page.getByText(owner.owner, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByLabel('Name', { exact: true }).fill('laptop')
  await page.getByLabel('View flows and executions').check()
  await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click()
  const secret = await page.getByRole('dialog', { name: 'Secret for laptop' }).locator('pre').innerText()
  const me = () => fetch(`${stack.gateways[0]!.url}/api/v2/me`, { headers: { Authorization: `Bearer ${secret}` } })
  expect((await me()).status).toBe(200)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Delete token laptop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete token' }).click()
  await dialogClosed(page)
  await row(page, /laptop/).waitFor({ state: 'detached' })
  expect(await codeOf(await me())).toBe('token_invalid')

  const next = `${PASSWORD} again`
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill(next)
  await page.getByRole('button', { name: 'Change password' }).click()
  const again = page.getByRole('dialog', { name: 'Your session has ended' })
  await again.getByLabel('Password').fill(next)
  await again.getByRole('button', { name: 'Sign in' }).click()
  await again.waitFor({ state: 'detached' })
  expect(problems).toEqual([])
})

test('a project service token has only its listed permissions, until it is deleted [token_invalid] [not_permitted]', async ({
  stack,
  visit,
}) => {
  const { owner, grace } = await ownerAndGrace(stack)
  const { page, problems } = await visit()
  await page.goto(`${owner.home}/settings`)
  await signIn(page, owner)
  await page.getByLabel('Delete assets after (days)').fill('30')
  await page.getByRole('region', { name: 'Assets' }).getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Delete assets' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByLabel('Name', { exact: true }).fill('CI')
  await page.getByLabel('Read the wallet').check()
  await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click()
  const secret = await page.getByRole('dialog', { name: 'Secret for CI' }).locator('pre').innerText()
  await page.getByRole('button', { name: 'Done' }).click()
  const path = `/api/v2/tenants/${owner.project.tenant}/projects/${owner.project.id}`
  const ask = (part: string) =>
    fetch(`${stack.gateways[0]!.url}${path}/${part}`, { headers: { Authorization: `Bearer ${secret}` } })
  expect([(await ask('wallet')).status, await codeOf(await ask('grants'))]).toEqual([200, 'not_permitted'])
  await row(page, /CI/).getByText('wallet.read').waitFor()
  expect(await hindrances(page)).toEqual([])
  await page.getByRole('button', { name: 'Delete token CI' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete token' }).click()
  await dialogClosed(page)
  await row(page, /CI/).waitFor({ state: 'detached' })
  expect(await codeOf(await ask('wallet'))).toBe('token_invalid')
  await page.reload()
  await expect.poll(() => page.getByLabel('Delete assets after (days)').inputValue()).toBe('30')

  const { page: graces } = await visit()
  await graces.goto(`${owner.home}/settings`)
  await signIn(graces, grace)
  await graces.getByText('Assets are deleted after 30 days.').waitFor()
  expect(await graces.getByRole('button', { name: /Delete|Create|Save/ }).count()).toBe(0)
  expect(problems).toEqual([])
})
