import { expect } from 'vitest'
import { contractExample, pageTest as test } from '../page-test.fixture.tsx'
import { refuse } from '@gateway/api/refusal'

test('a user who starts again at the code can use single sign-on or reset the password', async ({ api, open }) => {
  api.answer('readMe', refuse('session_missing', {}))
  const provider = { path: '/api/v2/session/oidc', isReached: true }
  api.answer('readSignInMethods', { ...contractExample('readSignInMethods'), provider, secondFactor: true })
  const { screen } = await open('/')
  await expect.element(screen.getByLabelText('Code')).toBeVisible()
  const links = [/^Continue with single sign-on/, /^Forgot your password/].map((name) =>
    screen.getByRole('link', { name }),
  )
  for (const link of links) await expect.element(link).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Start again' }).click()
  await expect.element(screen.getByLabelText('Password')).toBeVisible()
  for (const link of links) await expect.element(link).toBeVisible()
})
