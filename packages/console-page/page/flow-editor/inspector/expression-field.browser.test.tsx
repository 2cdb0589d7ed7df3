import { expect } from 'vitest'
import { userEvent } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, pageTest as base, project } from '../../page-test.fixture.tsx'

const test = base.extend('field', async ({ api, open }) => {
  const revision = contractExample('readRevision')
  const fixed = { id: 'fixed', kind: 'constant', value: 'blue' }
  const nodes = revision.graph.nodes.map((node) => ({ ...node, ...(node.id === 'ask' && { template: '{{ topic }}' }) }))
  api.answer('readRevision', { ...revision, graph: { ...revision.graph, nodes: [...nodes, fixed] } })
  const { screen } = await open(`${project}/flows/${exampleIds.sandbox}`)
  await screen.getByRole('group', { name: /^Template ask/ }).click()
  const editor = () => document.querySelector<HTMLElement>('.inspector-place .code-editor')
  const text = () => editor()?.shadowRoot?.querySelector('.cm-line')?.textContent
  await expect.poll(text).toBe('{{ topic }}')
  editor()!.focus()
  await userEvent.keyboard('{Control>}{End}{/Control}')
  const edge = screen.getByRole('group', { name: 'From fixed.value to ask.value' })
  return { screen, text, edge }
})

test('undo takes back a completion with its edge, and redo brings both back', async ({ field }) => {
  const { screen, text, edge } = field
  await userEvent.keyboard(' {{{{ va')
  await screen.getByRole('option', { name: /^value/ }).click()
  await expect.poll(text).toBe('{{ topic }} {{ value')
  await expect.element(edge).toBeInTheDocument()
  await userEvent.keyboard('!')
  await userEvent.keyboard('{Control>}zz{/Control}')
  await expect.poll(text).toBe('{{ topic }} {{ va')
  await expect.element(edge).not.toBeInTheDocument()
  await userEvent.keyboard('{Control>}y{/Control}')
  await expect.poll(text).toBe('{{ topic }} {{ value')
  await expect.element(edge).toBeInTheDocument()
})

test('undo takes back a value that was chosen from the list', async ({ field }) => {
  const { screen, text, edge } = field
  await screen.getByRole('button', { name: /^fixed\.value/ }).click()
  await expect.poll(text).toBe('{{ topic }}{{ value }}')
  await expect.poll(() => document.activeElement?.className).toMatch(/^code-editor/)
  await userEvent.keyboard('{Control>}z{/Control}')
  await expect.poll(text).toBe('{{ topic }}')
  await expect.element(edge).not.toBeInTheDocument()
})
