import { expect } from 'vitest'
import { userEvent } from 'vitest/browser'
import { pageTest as test, project } from '../page-test.fixture.tsx'

test('a screen opened from the rail with the keyboard has the focus on its heading, and its actions come next', async ({
  open,
}) => {
  const { screen } = await open(project)
  await expect.element(screen.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible()
  screen.getByRole('link', { name: 'API keys', exact: true }).element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByRole('heading', { name: 'API keys', level: 1 })).toHaveFocus()
  await userEvent.keyboard('{Tab}')
  await expect.element(screen.getByRole('button', { name: 'Create key' })).toHaveFocus()
})
