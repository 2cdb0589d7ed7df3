import { expect } from 'vitest'
import { contractExample, pageTest as test } from '../page-test.fixture.tsx'
import { refuse } from '@gateway/api/refusal'

test('a user whose session ended before they join can sign in on the invitation [session_missing]', async ({
  api,
  open,
}) => {
  const me = contractExample('readMe')
  api.answer('readInvitation', { ...contractExample('readInvitation'), email: me.email })
  const { screen } = await open(`/invitation#${'s'.repeat(43)}`)
  const join = screen.getByRole('button', { name: /^Join / })
  await expect.element(join).toBeVisible()
  for (const operation of ['readMe', 'joinOrganization'] as const) api.answer(operation, refuse('session_missing', {}))
  await join.click()
  await expect.element(screen.getByLabelText('Email')).toHaveValue(me.email)
  await screen.getByLabelText('Password').fill('correct horse')
  api.answer('signIn', me)
  api.answer('readMe', me)
  await screen.getByRole('button', { name: 'Sign in' }).click()
  await expect.element(join).toBeVisible()
})
