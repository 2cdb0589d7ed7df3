import { expect } from 'vitest'
import { page } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { validateGraph } from '@gateway/flow/validate-graph'
import { choose, contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

const flows = `${project}/flows`
const list = (rows: object[]) => {
  const [example] = contractExample('listSandboxes').data
  return { data: rows.map((row) => ({ ...example!, ...row })), nextCursor: null }
}
const activity = (rows: object[]) => {
  const [example] = contractExample('listSandboxActivity').data
  return { data: rows.map((row) => ({ ...example!, ...row })), nextCursor: null }
}
const products = (rows: { id: string; kind?: string; supportedParameters?: string[] }[]) => {
  const [product] = contractExample('listProducts').data
  const [assignment] = contractExample('listAssignments').data
  return {
    products: { data: rows.map((row) => ({ ...product!, name: row.id, ...row })) as never, nextCursor: null },
    assignments: { data: rows.map(({ id }) => ({ ...assignment!, product: id })), nextCursor: null },
  }
}

test('the gallery starts with a blank flow, which is created without a revision', async ({ api, open }) => {
  const { screen } = await open(flows)
  await screen.getByRole('button', { name: 'Create flow' }).first().click()
  const dialog = screen.getByRole('dialog', { name: 'Create flow' })
  await expect.element(dialog.getByRole('radio').first()).toBeChecked()
  await dialog.getByLabelText('Name').fill('Notes')
  await dialog.getByRole('button', { name: 'Create flow' }).click()
  await expect.poll(() => api.asked('createSandbox').map(({ body }) => body)).toEqual([{ name: 'Notes' }])
  expect(api.asked('saveRevision')).toEqual([])
})

test('a template fills each slot with the first product that fits, and becomes the first revision', async ({
  api,
  open,
}) => {
  const ids = ['acme/plain', 'acme/json', 'acme/other']
  const known = products([
    { id: ids[0]!, supportedParameters: [] },
    { id: ids[1]!, supportedParameters: ['response_format'] },
    { id: ids[2]!, supportedParameters: ['response_format'] },
  ])
  api.answer('listProducts', known.products)
  api.answer('listAssignments', known.assignments)
  const { screen, address } = await open(flows)
  await screen.getByRole('button', { name: 'Create flow' }).first().click()
  const dialog = screen.getByRole('dialog', { name: 'Create flow' })
  await dialog.getByRole('radio', { name: 'Summarize with a check' }).click()
  await expect.element(dialog.getByLabelText('Name')).toHaveValue('Summarize with a check')
  await expect.element(dialog.getByRole('combobox', { name: 'Writer' })).toHaveTextContent('acme/plain')
  await choose(dialog.getByRole('combobox', { name: 'Checker' }), 'acme/other')
  await dialog.getByRole('button', { name: 'Create flow' }).click()
  await expect.poll(() => address().pathname).toBe(`${flows}/${exampleIds.sandbox}`)
  const { graph } = api.asked('saveRevision')[0]!.body
  expect(graph.nodes.flatMap(({ product }) => product ?? [])).toEqual(['acme/plain', 'acme/other', 'acme/plain'])
  const facts = { kind: 'chat' as const, assigned: true, supportedParameters: ['response_format'] }
  expect(validateGraph(graph, new Map(ids.map((id) => [id, facts])))).toEqual([])
})

test('a template whose kind of model is missing says so and who assigns one, and cannot be created', async ({
  api,
  open,
}) => {
  const known = products([{ id: 'acme/plain', supportedParameters: [] }])
  api.answer('listProducts', known.products)
  api.answer('listAssignments', known.assignments)
  const { screen } = await open(flows)
  await screen.getByRole('button', { name: 'Create flow' }).first().click()
  const dialog = screen.getByRole('dialog', { name: 'Create flow' })
  const submit = dialog.getByRole('button', { name: 'Create flow' })
  await dialog.getByRole('radio', { name: 'Voice note' }).click()
  const missing = 'This project has no audio model. Ask an Admin of the organization to assign one.'
  await expect.element(dialog.getByText(missing)).toBeVisible()
  await expect.element(submit).toBeDisabled()
  await dialog.getByRole('radio', { name: 'Extract to JSON' }).click()
  await expect.element(dialog.getByText(/no chat model that returns JSON/)).toBeVisible()
  await dialog.getByRole('radio', { name: 'Translate' }).click()
  await expect.element(submit).toBeEnabled()
})

test('the menu of a flow renames it, changes its tags and duplicates its newest graph', async ({ api, open }) => {
  api.answer('listSandboxes', list([{ tags: ['sales'] }]))
  const { screen } = await open(flows)
  const act = async (action: string) => {
    await screen.getByRole('button', { name: 'Actions for Summary' }).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  await act('Rename')
  await screen.getByLabelText('Name').fill('Digest')
  await screen.getByLabelText('Description').fill('Short.')
  await screen.getByRole('button', { name: 'Save' }).click()
  await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument()
  await act('Edit tags')
  await screen.getByLabelText('Tags').fill('sales, weekly report,sales, ')
  await screen.getByRole('button', { name: 'Save' }).click()
  await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument()
  expect(api.asked('changeSandbox').map(({ body }) => body)).toEqual([
    { name: 'Digest', description: 'Short.' },
    { tags: ['sales', 'weekly report'] },
  ])
  await act('Duplicate')
  await screen.getByRole('button', { name: 'Duplicate' }).click()
  await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument()
  const copy = { name: 'Copy of Summary', description: 'Writes about a topic.', tags: ['sales'] }
  expect(api.asked('createSandbox').map(({ body }) => body)).toEqual([copy])
  const [{ graph } = {}] = contractExample('listRevisions').data
  expect(api.asked('saveRevision').map(({ body }) => body)).toEqual([{ graph }])
})

test('the list shows last run, success rate and spend of each flow, and finds flows by tag', async ({ api, open }) => {
  const [used, unused] = ['sbx-used', 'sbx-unused']
  api.answer(
    'listSandboxes',
    list([
      { id: used, name: 'Used', tags: ['sales'] },
      { id: unused, name: 'Unused', tags: [] },
    ]),
  )
  const lastExecution = { id: exampleIds.execution, status: 'Failed', createdAt: new Date().toISOString() }
  const none = { lastExecution: null, ended: 0, succeeded: 0, chargedMicro: 0 }
  api.answer(
    'listSandboxActivity',
    activity([
      { sandbox: used, lastExecution, ended: 1_000, succeeded: 999, chargedMicro: 1_234_567 },
      { sandbox: unused, ...none },
    ]),
  )
  const { screen, address } = await open(flows)
  const row = screen.getByRole('row', { name: /^Used/ })
  for (const cell of ['just now', 'Failed', '99%', '$1.234567']) await expect.element(row.getByText(cell)).toBeVisible()
  const other = screen.getByRole('row', { name: /^Unused/ })
  for (const cell of ['Never', '$0.00']) await expect.element(other.getByText(cell, { exact: true })).toBeVisible()
  await screen.getByRole('searchbox', { name: 'Search flows' }).fill('sales')
  await expect.element(other).not.toBeInTheDocument()
  await screen.getByRole('searchbox', { name: 'Search flows' }).fill('')
  await choose(screen.getByRole('combobox', { name: 'Tag' }), 'sales')
  await expect.element(other).not.toBeInTheDocument()
  expect(address().search).toEqual({ tag: 'sales' })
  await screen.getByRole('button', { name: 'Remove filter tag: sales' }).click()
  await expect.element(other).toBeVisible()
})
