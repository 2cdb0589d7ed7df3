import { expect } from 'vitest'
import { userEvent } from 'vitest/browser'
import type { Graph } from '@gateway/api/graph'
import { exampleIds } from '@gateway/api/example-ids'
import { refuse } from '@gateway/api/refusal'
import { choose, contractExample, pageTest as base, project } from '../../page-test.fixture.tsx'

// A flow with a new constant of the user, saved after another revision was saved.

const constant = { id: 'value', kind: 'constant', value: 'theirs' }

const test = base.extend('openConflict', ({ api, open }) => async (by: string, change: (graph: Graph) => Graph) => {
  const revision = contractExample('readRevision')
  const { screen } = await open(`${project}/flows/${exampleIds.sandbox}`)
  const inspector = screen.getByRole('complementary', { name: 'Inspector' })
  await screen.getByRole('button', { name: /^Constant/ }).click()
  await choose(inspector.getByRole('combobox', { name: 'Type' }), 'number')
  await inspector.getByLabelText('Value').fill('abc')
  await expect.element(inspector.getByText('Enter a number.')).toBeVisible()
  const number = revision.number + 1
  api.answer('readSandbox', { ...contractExample('readSandbox'), latestRevision: number })
  api.answer('readRevision', { ...revision, number, graph: change(revision.graph), createdBy: by })
  api.answer('saveRevision', ({ graph, baseRevision }) =>
    baseRevision! < number
      ? refuse('revision_conflict', { latestRevision: number })
      : { ...contractExample('saveRevision'), graph, number: number + 1 },
  )
  await userEvent.keyboard('{Control>}s{/Control}')
  const dialog = screen.getByRole('dialog', { name: /^Revision \d+ was saved in the meantime/ })
  const submit = dialog.getByRole('button', { name: 'Save merged flow' })
  await expect.element(submit).toBeVisible()
  const mergedNodes = async () => {
    await submit.click()
    await expect.element(dialog).not.toBeInTheDocument()
    return api.asked('saveRevision').at(-1)!.body.graph.nodes
  }
  return { inspector, dialog, mergedNodes }
})

const withConstant = (graph: Graph): Graph => ({ ...graph, nodes: [...graph.nodes, constant] })

test('a node that the same user saved and then changed is a choice, and not kept twice', async ({ openConflict }) => {
  const { dialog, mergedNodes } = await openConflict(contractExample('readMe').id, withConstant)
  await dialog.getByLabelText('value: mine').click()
  const nodes = await mergedNodes()
  expect(nodes.filter(({ kind }) => kind === 'constant')).toMatchObject([{ id: 'value', value: 0 }])
})

test('a node that gets another ID keeps its form and the text that is not part of it yet', async ({ openConflict }) => {
  const { inspector, mergedNodes } = await openConflict('usr_other', withConstant)
  const ids = (await mergedNodes()).filter(({ kind }) => kind === 'constant').map(({ id }) => id)
  expect(ids).toEqual(['value', 'value-2'])
  await expect.element(inspector.getByLabelText('ID', { exact: true })).toHaveValue('value-2')
  await expect.element(inspector.getByLabelText('Value')).toHaveValue('abc')
})

test('undo waits until the conflict is resolved', async ({ openConflict }) => {
  const { dialog, mergedNodes } = await openConflict('usr_other', (graph) => ({ ...graph, notes: [] }))
  dialog.getByRole('button', { name: 'Back to my version' }).element().focus()
  await userEvent.keyboard('{Control>}z{/Control}')
  await expect.element(dialog.getByRole('heading', { name: 'value Changed by you' })).toBeVisible()
  expect((await mergedNodes()).find(({ kind }) => kind === 'constant')).toMatchObject({ value: 0 })
})

test('a node of the other author that has no position gets one', async ({ openConflict }) => {
  const { mergedNodes } = await openConflict('usr_other', withConstant)
  expect((await mergedNodes()).find(({ id }) => id === 'value')).toHaveProperty('position')
})
