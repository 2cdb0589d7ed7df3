import { expect } from 'vitest'
import { usd } from '@gateway/pricing/usd'
import { hindrances, isTooWide } from './src/console/browser.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import { placesOf } from './src/console/places.ts'
import { consoleOwner, signedInAt } from './src/console/users.ts'
import { choose, chooseAction, dialogClosed } from './src/console/widgets.ts'

test('a flow from a template is run, activated, and listed with what it did, then duplicated and found by its tag', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page, problems } = await signedInAt(visit, owner, `${owner.home}/flows`, {
    width: 1280,
    colorScheme: 'light',
  })
  const { button, createFlow, flow, run, row, rail } = placesOf(page)
  await button('Create flow').first().click()
  const gallery = page.getByRole('dialog', { name: 'Create flow' })
  await gallery.getByRole('radio', { name: 'Voice note' }).click()
  await gallery.getByText('This project has no audio model.').waitFor()
  await gallery.getByRole('radio', { name: 'Best of two models' }).click()
  await choose(gallery, 'Judge', new RegExp(owner.model))
  expect(await hindrances(page)).toEqual([])
  await createFlow.name.fill('Second opinion')
  await createFlow.submit.click()

  await flow.state('Revision 1').waitFor()
  await run.tab.click()
  await run.input('Question').fill('Why is rain wet?')
  await run.start.click()
  await run.result.getByText('Succeeded', { exact: true }).waitFor()
  await flow.activate.click()
  await flow.state('Active').waitFor()

  await rail('Flows').click()
  const made = row('Second opinion')
  const { settled } = await stack.wallet(owner.project.id)
  expect(settled).toBeGreaterThan(0n)
  for (const cell of ['Revision 1 is active', '100%', usd(settled)])
    await made.getByText(cell, { exact: true }).waitFor()
  await made.getByRole('link', { name: 'just now' }).waitFor()

  await chooseAction(page, 'Duplicate', 'Second opinion')
  await page.getByRole('dialog').getByRole('button', { name: 'Duplicate' }).click()
  await dialogClosed(page)
  const copy = row('Copy of Second opinion')
  for (const cell of ['Not active', 'Never']) await copy.getByText(cell, { exact: true }).waitFor()
  await chooseAction(page, 'Edit tags', 'Copy of Second opinion')
  await page.getByRole('dialog').getByLabel('Tags').fill('trial, research')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await dialogClosed(page)
  await choose(page, 'Tag', 'research')
  await copy.getByText('trial', { exact: true }).waitFor()
  expect(await page.getByRole('row').count()).toBe(2)
  expect(await hindrances(page)).toEqual([])
  expect(await isTooWide(page)).toBe(false)
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await isTooWide(page)).toBe(false)
  expect(await hindrances(page)).toEqual([])
  await copy.getByRole('link', { name: 'Copy of Second opinion' }).click()
  await flow.state('Revision 1').waitFor()
  await page.getByRole('group', { name: 'Chat judge', exact: true }).waitFor()
  expect(problems).toEqual([])
})
