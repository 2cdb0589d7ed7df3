import { expect } from 'vitest'
import { userEvent } from 'vitest/browser'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

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

test('a flow opened from its list with the keyboard has the focus on its heading', async ({ open }) => {
  const { screen } = await open(`${project}/flows`)
  const { name } = contractExample('listSandboxes').data[0]!
  const link = screen.getByRole('link', { name, exact: true })
  await expect.element(link).toBeVisible()
  link.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByRole('button', { name: 'Auto-layout' })).toBeVisible()
  await expect.element(screen.getByRole('heading', { name, level: 1 })).toHaveFocus()
})
