import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, pageTest as test } from '../page-test.fixture.tsx'

const flow = `/flows/${exampleIds.sandbox}`

test('a save during another save waits for it, and builds on its revision', async ({ api, open }) => {
  const first = Promise.withResolvers<void>()
  const begin = contractExample('saveRevision')
  let number = begin.number
  api.answer('saveRevision', async ({ graph, baseRevision }) => {
    if (baseRevision === begin.number) await first.promise
    return { ...begin, graph, number: ++number }
  })
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  await screen.getByRole('button', { name: 'Auto-layout' }).click()
  await expect.element(screen.getByText('Unsaved')).toBeVisible()
  await userEvent.keyboard('{Control>}s{/Control}')
  await expect.poll(() => api.asked('saveRevision').length).toBe(1)
  await userEvent.keyboard('{Control>}s{/Control}')
  await screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.element(screen.getByRole('group', { name: /^Branch/ })).toBeVisible()
  first.resolve()
  await expect.poll(() => api.asked('saveRevision').length).toBe(2)
  const [one, two] = api.asked('saveRevision')
  expect(two!.body.baseRevision).toBe(begin.number + 1)
  expect(two!.body.graph.nodes.length).toBe(one!.body.graph.nodes.length + 1)
  expect([one!.body.draft, two!.body.draft]).toEqual([false, true]) // the new branch is not wired yet
  expect(screen.getByRole('dialog').query()).toBeNull()
})

test('the focused element keeps the focus when the window gets wide', async ({ open }) => {
  await page.viewport(800, 800)
  const { screen } = await open(`/projects/${exampleIds.tenant}/${exampleIds.project}${flow}`)
  const tab = screen.getByRole('button', { name: 'JSON' })
  await tab.click()
  await expect.element(tab).toHaveFocus()
  await page.viewport(1280, 800)
  await expect.element(screen.getByRole('separator', { name: 'Resize the details' })).toBeInTheDocument()
  await expect.element(tab).toHaveFocus()
})
