import { expect } from 'vitest'
import { userEvent, type Locator } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, pageTest as base, project } from '../../page-test.fixture.tsx'

// The rules of the canvas, on the flow of the contract's example: in → ask → draft → out.

const test = base.extend('canvas', async ({ api, open }) => {
  api.answer('listProducts', {
    data: [{ ...contractExample('listProducts').data[0]!, state: 'published' }],
    nextCursor: null,
  })
  const revision = contractExample('readRevision')
  const nodes = revision.graph.nodes.map((node) => ({ ...node, position: positions[node.id]! }))
  api.answer('readRevision', { ...revision, graph: { ...revision.graph, nodes } })
  const { screen } = await open(`${project}/flows/${exampleIds.sandbox}`)
  const node = (id: string) => screen.getByRole('group', { name: new RegExp(` ${id}$`) })
  await expect.element(node('draft')).toBeVisible()
  /** Handle of a port, the end of an edge. It has no name: with the keyboard, the button of its port connects. */
  const handle = (id: string, port: string, side: 'source' | 'target') =>
    node(id).element().querySelector(`.react-flow__handle.${side}[data-handleid="${port}"]`)!
  const edges = () =>
    screen
      .getByRole('group', { name: /^From .* to / })
      .elements()
      .map((edge) => edge.getAttribute('aria-label')!.replace(/^From (.*) to (.*)$/, '$1 → $2'))
  return { screen, node, handle, edges }
})

/** Close together, so that all are in view. */
const positions: Record<string, { x: number; y: number }> = {
  in: { x: 0, y: 0 },
  ask: { x: 300, y: 0 },
  draft: { x: 0, y: 220 },
  out: { x: 300, y: 220 },
}
const drawn = ['in.topic → ask.topic', 'ask.text → draft.prompt', 'draft.text → out.text']

test('an edge is drawn by dragging; one that fits replaces the edge of its input, and can be undone', async ({
  canvas,
}) => {
  const { handle, edges } = canvas
  expect(edges()).toEqual(drawn)
  await userEvent.dragAndDrop(handle('ask', 'text', 'source'), handle('out', 'text', 'target'), { steps: 5 })
  const replaced = [drawn[0], drawn[1], 'ask.text → out.text']
  await expect.poll(edges).toEqual(replaced)
  await userEvent.keyboard('{Control>}z{/Control}')
  await expect.poll(edges).toEqual(drawn)
  await userEvent.keyboard('{Control>}{Shift>}z{/Shift}{/Control}')
  await expect.poll(edges).toEqual(replaced)
})

test('an edge that cannot be drawn is refused with the reason, and nothing changes', async ({ canvas }) => {
  const { screen, node, edges } = canvas
  await node('draft')
    .getByRole('button', { name: /^Connect output text/ })
    .click()
  const dialog = screen.getByRole('dialog', { name: /^Connect draft.text/ })
  const cycle = dialog.getByRole('button', { name: /^ask\.topic/ })
  await expect.element(cycle).toHaveAttribute('aria-disabled', 'true')
  await expect.element(cycle.getByText(/wait for each other: ask, draft/)).toBeVisible()
  await cycle.click({ force: true })
  await userEvent.keyboard('{Escape}')
  expect(edges()).toEqual(drawn)
})

test('a deleted node takes its edges along, and both come back with Undo', async ({ canvas }) => {
  const { screen, node, edges } = canvas
  await node('draft').click()
  await userEvent.keyboard('{Delete}')
  await expect.element(node('draft')).not.toBeInTheDocument()
  expect(edges()).toEqual([drawn[0]])
  await expect.element(screen.getByText('Deleted. Press Ctrl+Z to undo.').first()).toBeVisible()
  await userEvent.keyboard('{Control>}z{/Control}')
  await expect.element(node('draft')).toBeVisible()
  expect(edges()).toEqual(drawn)
})

test('ports are connected with the keyboard', async ({ canvas }) => {
  const { screen, node, edges } = canvas
  const port = node('in').getByRole('button', { name: /^Connect output topic/ })
  port.element().focus()
  await userEvent.keyboard('{Enter}')
  const target: Locator = screen
    .getByRole('dialog', { name: /^Connect in.topic/ })
    .getByRole('button', { name: /^out\.text/ })
  await expect.element(target).toBeVisible()
  target.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.poll(edges).toEqual([drawn[0], drawn[1], 'in.topic → out.text'])
  await expect.element(port).toHaveFocus()
})

test('nodes and edges have names, and the arrow keys move a node as one step', async ({ canvas }) => {
  const { screen, node } = canvas
  for (const name of ['Input in', 'Template ask', 'Chat draft', 'Output out'])
    await expect.element(screen.getByRole('group', { name })).toBeInTheDocument()
  await node('ask').click()
  const before = node('ask').element().getBoundingClientRect()
  node('ask').element().focus()
  await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}')
  await expect.poll(() => node('ask').element().getBoundingClientRect().top).toBeGreaterThan(before.top)
  await userEvent.keyboard('{Control>}z{/Control}')
  await expect.poll(() => node('ask').element().getBoundingClientRect().top).toBeCloseTo(before.top, 0)
})

test('arrow keys scroll the page while nothing that they move is selected', async ({ canvas, onTestFinished }) => {
  const { screen, node } = canvas
  const taken: boolean[] = []
  const onKeyDown = ({ defaultPrevented }: KeyboardEvent) => taken.push(defaultPrevented)
  addEventListener('keydown', onKeyDown)
  onTestFinished(() => removeEventListener('keydown', onKeyDown))
  for (const element of [null, screen.getByRole('heading', { level: 1 }).element()]) {
    if (element) element.focus()
    else (document.activeElement as HTMLElement | null)?.blur()
    await userEvent.keyboard('{ArrowDown}')
  }
  expect(taken).toEqual([false, false])
  node('draft').element().focus()
  await userEvent.keyboard('{ArrowDown}')
  await expect.element(screen.getByText('Moved 1 item.').first()).toBeVisible()
  expect(taken).toEqual([false, false])
})

test('a key for a field that just lost the focus deletes nothing, until the canvas is clicked', async ({ canvas }) => {
  const { screen, node } = canvas
  await node('ask').click()
  const id = screen.getByLabelText('ID', { exact: true })
  await id.click()
  ;(id.element() as HTMLElement).blur()
  await userEvent.keyboard('{Backspace}{Delete}')
  await expect.element(node('ask')).toBeVisible()
  await node('ask').click()
  ;(document.activeElement as HTMLElement).blur()
  await userEvent.keyboard('{Delete}')
  await expect.element(node('ask')).not.toBeInTheDocument()
})

test('the keys of the canvas work while the heading of the flow has the focus', async ({ canvas }) => {
  const { screen } = canvas
  screen.getByRole('heading', { level: 1 }).element().focus()
  await userEvent.keyboard('/')
  await expect.element(screen.getByRole('dialog')).toBeVisible()
})
