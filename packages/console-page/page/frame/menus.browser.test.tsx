import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

test('the menu of projects and the palette show 100 of 2,000 projects and search all of them', async ({
  api,
  open,
}) => {
  const [example] = contractExample('listProjects').data
  const projects = Array.from({ length: 2_000 }, (_, n) => ({
    ...example!,
    id: `prj_${n}`,
    name: `Project ${n} of many`,
  }))
  api.answer('listProjects', { data: projects, nextCursor: null })
  const { screen } = await open(`${project}/keys`)
  await screen.getByRole('button', { name: /Acme$/ }).click()
  const links = page.getByRole('menuitem', { name: /of many/ })
  await expect.poll(() => links.elements().length).toBe(100)
  await expect.element(page.getByText('1,900 more projects. Search to find them.')).toBeVisible()
  await page.getByRole('searchbox', { name: 'Search projects' }).fill('project 1999')
  await expect.poll(() => links.elements().map((link) => link.textContent)).toEqual(['Project 1999 of many'])
  await page.getByRole('searchbox', { name: 'Search projects' }).fill('no such')
  await expect.element(page.getByText('No projects found.')).toBeVisible()
  await userEvent.keyboard('{Escape}')

  await userEvent.keyboard('{Control>}k{/Control}')
  await expect.poll(() => page.getByRole('option').elements().length).toBe(100)
  await page.getByRole('combobox', { name: 'Search and commands' }).fill('project 1999')
  await expect.element(page.getByRole('option', { name: /Project 1999 of many/ })).toBeVisible()
})
