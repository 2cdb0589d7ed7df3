import { expect } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { consoleTest as test } from './src/console/console-test.ts'
import { hindrances, type Page } from './src/console/browser.ts'
import { canvasOf } from './src/console/flow-canvas.ts'
import { ownedFlow } from './src/console/owned-flow.ts'
import { signedInAt, signIn } from './src/console/users.ts'
import { typeFocused } from './src/console/widgets.ts'

// Gestures on the canvas of the flow editor, in a browser, against the whole service.

const wide = { width: 1440, colorScheme: 'light' } as const

/** Saves and returns the graph. */
async function savedGraph(page: Page, saved: () => Promise<Graph[]>): Promise<Graph> {
  const before = (await saved()).length
  await page.keyboard.press('Control+s')
  await expect.poll(async () => (await saved()).length).toBe(before + 1)
  return (await saved())[0]!
}
const edgesOf = ({ edges }: Graph) => edges.map(({ from, to }) => `${from} → ${to}`).toSorted()
const asOwned = ['ask.text → draft.prompt', 'draft.text → out.text', 'in.text → ask.text']
const undo = (page: Page) => page.keyboard.press('Control+z')

test('nodes are dragged from the palette to where they are dropped, or into an edge', async ({ stack, visit }) => {
  const { owner, address, saved } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  const { node, edge, dropFromPalette, middleOfEdge } = canvasOf(page)
  await node('out').waitFor()
  const pane = (await page.locator('.react-flow__pane').boundingBox())!
  const at = { x: pane.x + 300, y: pane.y + pane.height - 150 }
  await dropFromPalette(/^Constant/, at)
  await node('value').waitFor()
  const box = (await node('value').boundingBox())!
  expect([box.x + box.width / 2 - at.x, at.y - box.y].map((off) => Math.abs(off) < 40)).toEqual([true, true])

  await dropFromPalette(/^Template/, await middleOfEdge('ask.text', 'draft.prompt'))
  await edge('ask.text', 'template.text').waitFor({ state: 'attached' })
  await edge('template.text', 'draft.prompt').waitFor({ state: 'attached' })
  expect(edgesOf(await savedGraph(page, saved))).toEqual([
    'ask.text → template.text',
    'draft.text → out.text',
    'in.text → ask.text',
    'template.text → draft.prompt',
  ])
  await undo(page)
  await edge('ask.text', 'draft.prompt').waitFor({ state: 'attached' })
  expect(problems).toEqual([])
})

test('a click in the palette joins the node to the selected one, and never puts it on another', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  const { node, edge } = canvasOf(page)
  await node('ask').click()
  const palette = page.getByRole('navigation', { name: 'Node palette' })
  for (const id of ['template', 'template-2', 'template-3']) {
    await palette.getByRole('button', { name: /^Template/ }).click()
    await node(id).waitFor()
  }
  await edge('ask.text', 'template.text').waitFor({ state: 'attached' })
  await edge('template.text', 'template-2.text').waitFor({ state: 'attached' })
  await page.keyboard.press('Escape')
  expect(
    await page.evaluate(`{
      const boxes = [...document.querySelectorAll('.react-flow__node')].map((node) => node.getBoundingClientRect())
      boxes.flatMap((a, n) => boxes.slice(n + 1).filter((b) =>
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length
    }`),
  ).toBe(0)
  expect(problems).toEqual([])
})

test('"+" on a port and on an edge adds what fits there, and an unwired node is dropped on an edge', async ({
  stack,
  visit,
}) => {
  const { owner, address, saved } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  const { node, edge, select, middleOfEdge, menu, dragNode } = canvasOf(page)
  await node('ask').waitFor()
  const middle = await middleOfEdge('ask.text', 'draft.prompt')
  await page.mouse.move(middle.x, middle.y)
  await page.mouse.click(middle.x, middle.y)
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Insert a node between ask.text and draft.prompt').waitFor()
  expect(await dialog.getByRole('button', { name: /^Constant/ }).count()).toBe(0)
  await dialog.getByRole('button', { name: /^Branch/ }).click()
  await edge('branch.true.text', 'draft.prompt').waitFor({ state: 'attached' })
  await edge('branch.false.text', 'draft.prompt').waitFor({ state: 'attached' })
  await undo(page)
  await edge('ask.text', 'draft.prompt').waitFor({ state: 'attached' })

  await edge('draft.text', 'out.text').focus()
  await menu('Insert node here', 'keyboard')
  await typeFocused(page, 'template')
  await page.keyboard.press('Enter')
  await edge('template.text', 'out.text').waitFor({ state: 'attached' })
  await select('template')
  await page.keyboard.press('Delete')
  await page.getByLabel('Add a node after draft.text').click()
  await dialog.getByText('Add a node after draft.text').waitFor()
  await dialog.getByRole('button', { name: /^Template/ }).click()
  await edge('draft.text', 'template.text').waitFor({ state: 'attached' })
  for (let n = 0; n < 3; n++) await undo(page)
  await edge('draft.text', 'out.text').waitFor({ state: 'attached' })

  await page
    .getByRole('button', { name: /^Add a node/ })
    .first()
    .click()
  await typeFocused(page, 'expression')
  await page.keyboard.press('Enter')
  await node('expression').waitFor()
  await dragNode('expression', await middleOfEdge('in.text', 'ask.text'))
  await edge('in.text', 'expression.text').waitFor({ state: 'attached' })
  await edge('expression.value', 'ask.text').waitFor({ state: 'attached' })
  const inserted = await savedGraph(page, saved)
  await undo(page)
  await edge('in.text', 'ask.text').waitFor({ state: 'attached' })
  const back = await savedGraph(page, saved)
  expect(edgesOf(back)).toEqual(asOwned)
  expect(back.nodes.at(-1)!['position']).not.toEqual(inserted.nodes.at(-1)!['position'])
  expect(problems).toEqual([])
})

test('a new edge replaces the old one, an end can be led to another port, and off the ports the edge goes', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  const { node, edge, autoLayout, draw, pullEnd, middleOfPort } = canvasOf(page)
  await node('out').waitFor()
  await autoLayout()
  await draw('ask.text', 'out.text')
  await edge('draft.text', 'out.text').waitFor({ state: 'detached' })
  await undo(page)
  await edge('draft.text', 'out.text').waitFor({ state: 'attached' })
  await edge('ask.text', 'out.text').waitFor({ state: 'detached' })

  await pullEnd('ask.text', 'draft.prompt', await middleOfPort('draft', 'system', 'target'))
  await edge('ask.text', 'draft.system').waitFor({ state: 'attached' })
  await edge('ask.text', 'draft.prompt').waitFor({ state: 'detached' })
  await undo(page)
  const pane = (await page.locator('.react-flow__pane').boundingBox())!
  await pullEnd('ask.text', 'draft.prompt', { x: pane.x + pane.width / 2, y: pane.y + pane.height - 60 })
  await edge('ask.text', 'draft.prompt').waitFor({ state: 'detached' })
  expect(await page.getByRole('dialog').count()).toBe(0)
  await undo(page)
  await edge('ask.text', 'draft.prompt').waitFor({ state: 'attached' })
  expect(problems).toEqual([])
})

test('several nodes are moved, deleted, duplicated and pasted in another window, each as one step', async ({
  stack,
  visit,
}) => {
  const { owner, address, saved } = await ownedFlow(stack)
  const other = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const { node, edge, select, menu, dragNode } = canvasOf(page)
  await node('ask').click()
  await select('draft', { modifiers: ['Shift'] })
  await page.getByText('2 nodes selected').waitFor()
  const before = await savedPositions(page)
  const box = (await node('ask').boundingBox())!
  await dragNode('ask', { x: box.x + box.width / 2 + 40, y: box.y + 100 })
  expect(await savedPositions(page)).not.toEqual(before)
  await undo(page)
  await expect.poll(() => savedPositions(page)).toEqual(before)

  await page.keyboard.press('Control+d')
  await edge('ask-2.text', 'draft-2.prompt').waitFor({ state: 'attached' })
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Delete')
  await node('draft-2').waitFor({ state: 'detached' })
  await undo(page)
  await node('draft-2').waitFor()
  await undo(page) // the move
  await node('draft-2').waitFor()
  await undo(page)
  await node('draft-2').waitFor({ state: 'detached' })

  await node('ask').click({ button: 'right' })
  await page.keyboard.press('Escape')
  await node('ask').click()
  await select('draft', { modifiers: ['Control'] })
  await node('draft').focus()
  await menu('Copy', 'keyboard')
  await page.getByText('Copied 2 items.').waitFor()
  const { page: second } = await signedInAt(visit, other.owner, other.address, wide)
  await canvasOf(second).node('in').waitFor()
  const text = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(JSON.parse(text)).toMatchObject({ format: 'gateway-flow-nodes', version: 1, nodes: [{}, {}], edges: [{}] })
  await second.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await second.bringToFront()
  await second.keyboard.press('Control+v')
  await canvasOf(second).edge('ask-2.text', 'draft-2.prompt').waitFor({ state: 'attached' })
  await second.evaluate('navigator.clipboard.writeText("<img src=x onerror=alert(1)>")')
  await second.keyboard.press('Control+v')
  await second.getByText('The clipboard has no nodes of a flow.').first().waitFor()
  expect(edgesOf(await savedGraph(second, other.saved))).toEqual([...asOwned, 'ask-2.text → draft-2.prompt'].toSorted())

  await page.bringToFront()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await node('in').waitFor({ state: 'detached' })
  await undo(page)
  await edge('ask.text', 'draft.prompt').waitFor({ state: 'attached' })
  await node('ask').focus()
  await page.keyboard.press('ArrowDown')
  const moved = await savedGraph(page, saved)
  expect(moved.nodes.find(({ id }) => id === 'ask')).toHaveProperty('position')
  expect(problems).toEqual([])
})

/** Positions of the nodes on the canvas. */
const savedPositions = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('.react-flow__node')].map(({ style }) => style.transform)`)

test('the context menu opens by mouse and keyboard and acts on a node, an edge and the canvas', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  const { node, edge, menu } = canvasOf(page)
  await node('ask').click({ button: 'right' })
  await menu('Duplicate')
  await node('ask-2').waitFor()
  await node('ask-2').focus()
  await menu('Delete', 'keyboard')
  await node('ask-2').waitFor({ state: 'detached' })
  const pane = page.locator('.react-flow__pane')
  await pane.click({ button: 'right', position: { x: 60, y: 60 } })
  await menu('Select all')
  await page.getByText('4 nodes selected').waitFor()
  await page.keyboard.press('Escape')
  await edge('in.text', 'ask.text').focus()
  await menu('Delete', 'keyboard')
  await edge('in.text', 'ask.text').waitFor({ state: 'detached' })
  await undo(page)
  await pane.click({ button: 'right', position: { x: 60, y: 60 } })
  await menu('Add node')
  await page.getByRole('dialog', { name: 'Add a node' }).waitFor()
  expect(problems).toEqual([])
})

test('a note is written, colored, resized, saved and kept out of what runs', async ({ stack, visit }) => {
  const { owner, id, address, saved } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  const { node, menu } = canvasOf(page)
  await node('out').waitFor()
  await page.locator('.react-flow__pane').click({ button: 'right', position: { x: 80, y: 80 } })
  await menu('Add note')
  await page.getByLabel('Text of the note').fill('Why two calls?\nThe first is cheap.')
  await page.keyboard.press('Escape')
  const note = page.getByLabel('Note: Why two calls?')
  await note.waitFor()
  await page.getByRole('group', { name: 'Color of the note' }).getByRole('button', { name: 'blue' }).click()
  const handle = (await note.locator('.react-flow__resize-control').boundingBox())!
  await page.mouse.move(handle.x + 2, handle.y + 2)
  await page.mouse.down()
  await page.mouse.move(handle.x + 60, handle.y + 40, { steps: 5 })
  await page.mouse.up()
  await note.focus()
  await page.keyboard.press('ArrowRight')
  expect(await hindrances(page)).toEqual([])
  const { notes, nodes } = await savedGraph(page, saved)
  expect(notes).toMatchObject([{ text: 'Why two calls?\nThe first is cheap.', color: 'blue' }])
  expect(notes![0]!.size.width).toBeGreaterThan(270)
  expect(nodes.length).toBe(4)
  const path = `/api/v2/tenants/${owner.project.tenant}/sandboxes/${id}/revisions/2/activate`
  expect((await owner.caller.ask('POST', path)).status).toBe(200)
  await page.reload()
  await note.waitFor()
  await note.focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('End')
  await page.keyboard.type('!')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Delete')
  await note.waitFor({ state: 'detached' })
  await undo(page)
  await note.waitFor()
  expect(problems).toEqual([])
})

test('a card names model, parameters, problems and the state of the run, and a failed one is marked as a whole', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await visit(wide)
  await page.goto(address)
  await signIn(page, owner)
  const { node, select } = canvasOf(page)
  await select('draft')
  await page.getByLabel('Max output tokens').fill('300')
  await node('draft').getByText('max tokens 300').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const run = page.locator('.run-panel')
  await run.getByLabel('text', { exact: true }).fill('rain')
  await run.getByLabel('Max cost (USD)').fill('0.000001')
  await run.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByLabel('Chat draft, failed').waitFor()
  await node('draft').getByLabel('Failed').waitFor()
  await node('draft').locator('.node.failed').waitFor()
  await run.getByLabel('Max cost (USD)').fill('')
  await run.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByLabel('Chat draft, done').waitFor()
  await node('draft')
    .getByText(/^\$0\.0/)
    .waitFor()
  await node('draft').getByText(/ ms$/).waitFor()
  await select('out')
  await page.keyboard.press('Delete')
  await page.getByLabel(/^Chat draft, done.* 1 warning/).waitFor()
  expect(problems).toEqual([])
})
