import { CLIENT, startProvider, untilReached } from '@gateway/console/sign-in-provider'
import { expect } from 'vitest'
import { appCode } from './src/app-code.ts'
import { hindrances, isTooWide, views, type Page } from './src/console/browser.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import {
  acceptOn,
  consoleOperator,
  consoleOwner,
  consoleUser,
  inviteOn,
  setUpApp,
  signIn,
} from './src/console/users.ts'
import { chooseAction, dialogClosed, signOut } from './src/console/widgets.ts'
import { chat, openLiveStack } from './src/stack.ts'

// Getting into an organization by an invitation, and back into an account by a reset link, in a browser.

const row = (page: Page, name: string | RegExp) => page.getByRole('row', { name })
const ENDED = 'This link was used, replaced or revoked, or is older than 72 hours.'

test.for(views)(
  'an invited user accepts by the link, signs in, and the link is refused when used, replaced, expired or for another email, at $width pixels',
  async (view, { stack, visit }) => {
    const owner = await consoleOwner(stack)
    const organization = `${owner.start}/organizations/${owner.project.tenant}`
    const email = `invited.${owner.owner}@example.test`
    const { page, problems } = await visit(view)
    await page.goto(`${organization}/members`)
    await signIn(page, owner)
    const first = await inviteOn(page, email)
    expect(first).toMatch(/^http:\/\/.+\/console\/invitation#[\w-]{43}$/)
    await row(page, new RegExp(email)).getByText('Link to hand over').waitFor()
    expect([await hindrances(page), await isTooWide(page)]).toEqual([[], false])

    // Sent again: the first link ends.
    await chooseAction(page, 'Resend', email)
    await page.getByRole('button', { name: 'Send again' }).click()
    const shown = page.getByRole('dialog', { name: `Invitation for ${email}` })
    const link = await shown.locator('pre').innerText()
    await shown.getByRole('button', { name: 'Done' }).click()
    const { page: guest, problems: guestProblems } = await visit(view)
    await guest.goto(first)
    await guest.getByText(ENDED).waitFor()

    // Foreign: another user with an account.
    const stranger = await consoleUser(stack, await stack.fixture.user())
    const { page: strangers } = await visit()
    await strangers.goto(link)
    await strangers.getByRole('button', { name: 'I have an account' }).click()
    await signIn(strangers, stranger)
    await strangers.getByText(`You are signed in as ${stranger.email}.`, { exact: false }).waitFor()
    expect(await strangers.getByRole('button', { name: /^Join/ }).count()).toBe(0)

    // Accepted: signed in at once, and again later.
    await guest.goto(`${owner.start}/reset`) // a change of the fragment alone loads no page
    await guest.goto(link)
    await guest.getByText('You are invited to', { exact: false }).waitFor()
    expect([await hindrances(guest), await isTooWide(guest)]).toEqual([[], false])
    await acceptOn(guest, 'Grace')
    await page.reload()
    await row(page, /Grace/).getByText('Member', { exact: true }).waitFor()
    expect(await row(page, new RegExp(`^${email}`)).count()).toBe(0)
    const { page: later } = await visit()
    await later.goto(link)
    await later.getByText(ENDED).waitFor() // used
    await later.getByRole('link', { name: 'Go to the console' }).click()
    await signIn(later, { email })
    await later.getByRole('heading', { name: 'Projects', exact: true }).waitFor()

    // Expired, then revoked.
    const second = await inviteOn(page, `late.${email}`)
    await stack.fixture.run(`UPDATE control.invitations SET expires_at = now() - interval '1 ms' WHERE email = $1`, [
      `late.${email}`,
    ])
    const { page: latecomer } = await visit()
    await latecomer.goto(second)
    await latecomer.getByText(ENDED).waitFor()
    await page.reload()
    await row(page, new RegExp(`late.${email}`))
      .getByText('Expired')
      .waitFor()
    await chooseAction(page, 'Revoke', `late.${email}`)
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await dialogClosed(page)
    await row(page, new RegExp(`late.${email}`)).waitFor({ state: 'detached' })
    expect([problems, guestProblems]).toEqual([[], []])
  },
)

test('a user who has an account joins with it, and resets a forgotten password by a link of the operator', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const known = await consoleUser(stack, await stack.fixture.user())
  const { page } = await visit()
  await page.goto(`${owner.start}/organizations/${owner.project.tenant}/members`)
  await signIn(page, owner)
  const link = await inviteOn(page, known.email, 'Admin')
  const { page: theirs, problems } = await visit()
  await theirs.goto(link)
  await theirs.getByRole('button', { name: 'I have an account' }).click()
  await theirs.getByLabel('Password').fill('correct horse battery')
  await theirs.getByRole('button', { name: 'Sign in' }).click()
  await theirs.getByRole('button', { name: /^Join/ }).click()
  await theirs.getByRole('heading', { name: 'Projects', exact: true }).waitFor()

  const operator = await consoleOperator(stack)
  const { page: operators } = await visit()
  await operators.goto(`${owner.start}/operator/organizations`)
  await signIn(operators, operator)
  await operators.getByRole('button', { name: 'Create reset link' }).click()
  await operators.getByLabel('Email').fill(known.email)
  await operators.getByRole('button', { name: 'Create link' }).click()
  const reset = await operators
    .getByRole('dialog', { name: `Reset link for ${known.email}` })
    .locator('pre')
    .innerText()

  const { page: forgetful } = await visit()
  await forgetful.goto(owner.start)
  await forgetful.getByRole('link', { name: 'Forgot your password?' }).click()
  await forgetful.getByText('Ask the platform operator').waitFor()
  await forgetful.goto(owner.start)
  await forgetful.goto(reset)
  await forgetful.getByLabel('New password').fill('a longer sentence than before')
  await forgetful.getByRole('button', { name: 'Change password' }).click()
  await forgetful.getByText('Password changed. Sign in with it.').waitFor()
  await forgetful.getByRole('link', { name: 'Go to sign-in' }).click()
  await signIn(forgetful, known, 'a longer sentence than before')
  await forgetful.getByRole('heading', { name: 'Projects', exact: true }).waitFor()
  await theirs.reload()
  await theirs.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(problems).toEqual([])
})

/** A separate service with a sign-in provider. It is reached as localhost: for cookies a site other than the provider's. */
const withProvider = test.extend('own', { scope: 'file' }, async ({ database, redis }, { onCleanup }) => {
  const stack = await openLiveStack({ ...database, redisUrl: redis.url })
  const publicUrl = stack.gateways[0]!.url.replace('127.0.0.1', 'localhost')
  const provider = await startProvider({ redirectUri: `${publicUrl}/api/v2/session/oidc/callback` })
  onCleanup(async () => {
    await stack.close()
    await provider.stop()
  })
  await stack.console!.stop()
  await stack.console!.start({
    PUBLIC_URL: publicUrl,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
  })
  await untilReached(stack.console!.url)
  return { stack, provider, start: `${publicUrl}/console` }
})

withProvider.for(['a password', 'single sign-on'] as const)(
  'an invited user joins with %s, sets up an authenticator app, signs in with its code, and calls with their key',
  async (way, { own: { stack, provider, start }, visit }) => {
    const owner = await consoleOwner(stack)
    const { project } = owner
    const email = `journey.${owner.owner}@example.test`
    const { page: admins } = await visit()
    await admins.goto(`${start}/organizations/${project.tenant}/members`)
    await signIn(admins, owner)
    const link = await inviteOn(admins, email)

    const bySingleSignOn = way === 'single sign-on'
    const { page, problems } = await visit()
    provider.sit(email, { email, email_verified: true, name: 'Grace' })
    await page.goto(link)
    if (bySingleSignOn) await page.getByRole('button', { name: 'Continue with single sign-on' }).click()
    else await acceptOn(page, 'Grace')
    await page.getByRole('heading', { name: 'Projects', exact: true }).waitFor()

    await page.goto(`${start}/account`)
    const { secret: app } = await setUpApp(page, bySingleSignOn ? { password: '' } : {})
    await page.goto(start)
    await signOut(page)
    if (bySingleSignOn) await page.getByRole('link', { name: /^Continue with single sign-on/ }).click()
    else await signIn(page, { email })
    await page.getByLabel('Code').fill(appCode(app, 1))
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor()

    const { id: user } = (await stack.fixture.run('SELECT id FROM control.users WHERE email = $1', [email])).rows[0]!
    const path = `/api/v2/tenants/${project.tenant}`
    const grant = { user, role: 'Project Consumer' }
    expect((await owner.caller.ask('POST', `${path}/teams/${project.team}/members`, { user })).status).toBe(201)
    expect((await owner.caller.ask('POST', `${path}/projects/${project.id}/grants`, grant)).status).toBe(201)
    await page.goto(`${start}/projects/${project.tenant}/${project.id}/keys?create=true`)
    const form = page.getByRole('dialog', { name: 'Create key' })
    await form.getByLabel('Name', { exact: true }).fill('website')
    await form.getByRole('button', { name: 'Create key' }).click()
    const secret = await page.getByRole('dialog', { name: 'Secret for website' }).locator('pre').first().innerText()
    expect((await chat(stack, { key: { ...owner.key, secret }, model: owner.model })).status).toBe(200)
    expect(problems).toEqual([])
  },
)
