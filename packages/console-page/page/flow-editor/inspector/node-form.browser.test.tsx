import { expect } from 'vitest'
import { userEvent } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, pageTest as base, project } from '../../page-test.fixture.tsx'

// A field that loses the focus by itself leaves it to the page, where the next Backspace deletes the node.

const test = base.extend('form', async ({ api, open }) => {
  const revision = contractExample('readRevision')
  const nodes = revision.graph.nodes.map((node) => ({
    ...node,
    ...(node.id === 'draft' && { params: { max_tokens: 300, stop: 'END' } }),
  }))
  api.answer('readRevision', { ...revision, graph: { ...revision.graph, nodes } })
  const { screen } = await open(`${project}/flows/${exampleIds.sandbox}`)
  const node = (id: string) => screen.getByRole('group', { name: new RegExp(`^(?!From)\\w+ ${id}\\b`) })
  const select = async (id: string) => {
    await expect.element(node(id)).toBeVisible()
    node(id).element().focus()
    await userEvent.keyboard(' ')
  }
  return { node, select, inspector: screen.getByRole('complementary', { name: 'Inspector' }) }
})

test('renaming a node or an input keeps the focus', async ({ form }) => {
  const { node, select, inspector } = form
  await select('draft')
  const id = inspector.getByLabelText('ID', { exact: true })
  await id.fill('drafts')
  await userEvent.keyboard('{Enter}')
  await expect.element(node('drafts')).toBeVisible()
  await userEvent.keyboard('{Backspace}')
  await expect.element(id).toHaveValue('draft')
  await expect.element(id).toHaveFocus()

  await select('in')
  const name = inspector.getByLabelText('Name', { exact: true })
  await name.fill('topics')
  await userEvent.keyboard('{Enter}')
  await expect.element(inspector.getByRole('button', { name: 'Remove topics' })).toBeVisible()
  await userEvent.keyboard('{Backspace}')
  await expect.element(name).toHaveValue('topic')
  await expect.element(name).toHaveFocus()
})

test('text that is half-written stays with the node that is renamed', async ({ form }) => {
  const { node, select, inspector } = form
  await select('draft')
  const tokens = inspector.getByLabelText('Max output tokens')
  await tokens.fill('many')
  await inspector.getByLabelText('ID', { exact: true }).fill('renamed')
  await userEvent.keyboard('{Enter}')
  await expect.element(node('renamed')).toBeVisible()
  await expect.element(tokens).toHaveValue('many')
  await select('ask')
  await expect.element(tokens).not.toBeInTheDocument()
  await select('renamed')
  await expect.element(tokens).toHaveValue('many')
})

test('a part of the form stays open when its last field is emptied', async ({ form }) => {
  const { select, inspector } = form
  await select('draft')
  const stop = () => inspector.element().querySelector<HTMLElement>('details .code-editor')
  await expect.poll(stop).not.toBeNull()
  stop()!.focus()
  await userEvent.keyboard('{Control>}a{/Control}{Backspace}')
  await expect.element(inspector.getByRole('textbox', { name: 'Stop sequences (JSON)' })).toBeVisible()

  await inspector.getByText('Title and description').click()
  const title = inspector.getByLabelText('Title')
  await title.fill('a')
  await userEvent.keyboard('{Backspace}')
  await expect.element(title).toHaveValue('')
  await expect.element(title).toHaveFocus()
})
