import { expect } from 'vitest'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, pageTest as base, project } from '../../page-test.fixture.tsx'

// The graph of the contract's example has no positions, like one that was saved through the API.

const test = base.extend('flow', async ({ open }) => {
  const { screen } = await open(`${project}/flows/${exampleIds.sandbox}`)
  const branch = screen.getByRole('group', { name: /^Branch/ })
  await screen.getByRole('button', { name: /^Branch/ }).click()
  await expect.element(branch).toBeVisible()
  const places = () =>
    [/^Input in/, /^Template ask/, /^Chat draft/, /^Output out/].map((name) => {
      const { x, y } = screen.getByRole('group', { name }).element().getBoundingClientRect()
      return `${Math.round(x)} ${Math.round(y)}`
    })
  const expectPlaced = async () => {
    await expect.element(branch).not.toBeInTheDocument()
    expect(new Set(places()).size).toBe(4)
  }
  return { screen, expectPlaced }
})

test('older revisions are read page by page, and a restored one has places for its nodes', async ({ api, flow }) => {
  const { screen, expectPlaced } = flow
  const [revision] = contractExample('listRevisions').data
  api.answer('listRevisions', { data: [{ ...revision!, number: 52 }], nextCursor: 'older' })
  await screen.getByRole('button', { name: 'Revisions', exact: true }).click()
  await expect.element(screen.getByText('Revision 52')).toBeVisible()
  api.answer('listRevisions', { data: [{ ...revision!, number: 2 }], nextCursor: null })
  await screen.getByRole('button', { name: 'Show older' }).click()
  const restore = screen
    .getByRole('listitem')
    .filter({ hasText: 'Revision 2' })
    .getByRole('button', { name: 'Restore' })
  await restore.click()
  await expectPlaced()
  expect(api.asked('listRevisions').at(-1)!.query).toMatchObject({ cursor: 'older' })
  expect(screen.getByRole('button', { name: 'Show older' }).query()).toBeNull()
})

test('the revision of an execution is shown with places for its nodes', async ({ api, flow }) => {
  const { screen, expectPlaced } = flow
  api.answer('readExecution', { ...contractExample('readExecution'), sandbox: exampleIds.sandbox })
  await screen.getByRole('button', { name: 'Executions' }).click()
  await screen.getByRole('button', { name: 'Show on canvas' }).first().click()
  await screen.getByRole('button', { name: /^View revision/ }).click()
  await expectPlaced()
})
