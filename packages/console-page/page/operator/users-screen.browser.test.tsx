import { expect } from 'vitest'
import { contractExample, pageTest as test } from '../page-test.fixture.tsx'

const me = { ...contractExample('readMe'), platformOperator: true }
const user = { ...contractExample('addOperator'), name: 'Grace', platformOperator: false, emailVerified: false }

test('a user whose email is not verified becomes an operator only after a warning', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('listOperators', { data: [], nextCursor: null })
  api.answer('listUsers', { data: [user], nextCursor: null })
  api.answer('addOperator', { ...user, platformOperator: true })
  const { screen } = await open('/operator/users')
  await screen.getByRole('textbox', { name: 'Email' }).fill(user.email)
  await screen.getByRole('button', { name: 'Find user' }).click()
  await expect.element(screen.getByText('Email not verified')).toBeVisible()
  await screen.getByRole('button', { name: 'Actions for Grace' }).click()
  await screen.getByRole('menuitem', { name: 'Make operator' }).click()
  const dialog = screen.getByRole('dialog', { name: 'Make operator: Grace?' })
  await expect.element(dialog.getByText(/^Nothing has verified that ada@example.com/)).toBeVisible()
  await dialog.getByRole('button', { name: 'Make operator' }).click()
  await expect
    .poll(() => api.asked('addOperator').map(({ body }) => body))
    .toEqual([{ user: user.id, emailVerified: false }])
})
