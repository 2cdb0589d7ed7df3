import fc from 'fast-check'
import path from 'node:path'
import { expect } from 'vitest'
import type { Graph } from '@gateway/api/graph'
import { changedFlow } from '@gateway/flow/changed-flow'
import { validFlow } from '@gateway/flow/generators'
import { validateGraph } from '@gateway/flow/validate-graph'
import { leftOut } from '@gateway/console-page/left-out'
import { browserBundle } from '@gateway/testbed/browser-bundle'
import { consoleTest as test } from './src/console/console-test.ts'
import { hindrances, views, type Page } from './src/console/browser.ts'
import { canvasOf, tabTo } from './src/console/flow-canvas.ts'
import { ownedFlow } from './src/console/owned-flow.ts'
import { consoleOwner, signedInAt, signIn } from './src/console/users.ts'
import { choose, typeFocused } from './src/console/widgets.ts'

// The flow editor in a browser, against the whole service.

const noProblem = (page: Page) => page.getByText('No problems.').waitFor()
const headed = (page: Page, text: string) => page.locator('.flow-header').getByText(text, { exact: true }).waitFor()
/** The graph on the canvas: its unsaved changes are kept in the browser. */
const shownGraph = async (page: Page): Promise<Graph> => {
  const drafts = await page.evaluate<string[]>(
    `Object.entries(localStorage).flatMap(([key, text]) => (key.startsWith('flow-draft ') ? [text] : []))`,
  )
  return (JSON.parse(drafts[0]!) as { graph: Graph }).graph
}
const comparable = ({ nodes, edges, ...graph }: Graph) => ({
  ...graph,
  nodes: nodes.map(({ position: _, ...node }) => node),
  edges: new Set(edges.map(({ from, to }) => `${from} ${to}`)),
})

test('a flow can be drawn with the mouse, validated as it changes, and activated', async ({ stack, visit }) => {
  const owner = await consoleOwner(stack)
  const { page, problems } = await visit({ ...views[0]!, width: 1440 })
  const { add, autoLayout, draw, edge, pull } = canvasOf(page)
  await page.goto(`${owner.home}/flows`)
  await signIn(page, owner)
  await page.getByRole('button', { name: 'Create flow' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('Writer')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Create/ })
    .click()

  await page.getByLabel('From chat.text to out.text').waitFor({ state: 'attached' })
  await canvasOf(page).select('chat')
  await page.keyboard.press('Delete')
  await page.keyboard.press('Escape')

  const given = page.getByRole('region', { name: 'Inputs' })
  await given.getByLabel('Name').fill('topic')
  await given.getByLabel('Name').press('Enter')
  await given.getByRole('button', { name: 'Add input' }).click()
  const tone = given.getByRole('group').nth(1)
  await tone.getByLabel('Name').fill('tone')
  await tone.getByLabel('Name').press('Enter')
  await choose(tone, 'Type', 'select')
  await tone.getByLabel('Options').fill('dry\nwarm')

  const product = new RegExp(owner.model)
  await add(/^Template/, 'ask')
  await page.getByLabel('Text', { exact: true }).fill('Write about {{ topic }} in a {{ tone }} tone.')
  await add(product, 'draft')
  await page.getByLabel('Max output tokens').fill('300')
  await add(/^Branch/, 'long')
  await add(product, 'trim')
  await page.getByRole('button', { name: /^Problems/ }).click()
  await autoLayout()
  await page.getByText('The input text of node out is not wired.').first().waitFor()

  await pull('in.topic', 'draft.image')
  await page.getByText('joins string with image').waitFor()
  await page.mouse.up()
  // A node added after the selected one is wired to it.
  for (const [from, to] of edgesOfDecisions) if ((await edge(from, to).count()) === 0) await draw(from, to)
  await noProblem(page)
  expect(comparable(await shownGraph(page))).toEqual({
    input: {
      type: 'object',
      properties: { topic: { type: 'string' }, tone: { type: 'string', enum: ['dry', 'warm'] } },
      required: ['topic', 'tone'],
    },
    output: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'out', kind: 'output' },
      { id: 'ask', kind: 'template', template: 'Write about {{ topic }} in a {{ tone }} tone.' },
      { id: 'draft', kind: 'product.chat', product: owner.model, params: { max_tokens: 300 } },
      { id: 'long', kind: 'branch', condition: 'size(text) > 400' },
      { id: 'trim', kind: 'product.chat', product: owner.model },
    ],
    edges: new Set(edgesOfDecisions.map((ends) => ends.join(' '))),
  })
  await page.getByRole('button', { name: 'Save and activate' }).click()
  await headed(page, 'Active')
  expect(await hindrances(page)).toEqual([])

  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const run = page.locator('.run-panel')
  await run.getByLabel('topic').fill('rain')
  await choose(run, 'tone', 'warm')
  await run.getByRole('button', { name: 'Run' }).click()
  const answered = page.getByRole('region', { name: 'Result of the execution' })
  await answered.getByText('Succeeded').waitFor()
  await canvasOf(page).node('draft').getByText('done').waitFor()
  const { settled } = await stack.wallet(owner.project.id)
  await answered.getByText(`$${(Number(settled) / 1e6).toFixed(6)}`).waitFor()
  expect(problems).toEqual([])
})

test('the run panel shows the max cost, enforces a ceiling, and reruns from a node for the cost of the nodes below it', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await visit()
  const settled = async () => Number((await stack.wallet(owner.project.id)).settled)
  await page.goto(address)
  await signIn(page, owner)
  await canvasOf(page).node('draft').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const run = page.locator('.run-panel')
  const start = run.getByRole('button', { name: 'Run', exact: true })
  const answered = page.getByRole('region', { name: 'Result of the execution' })
  await run.getByLabel('text', { exact: true }).fill('rain')
  await run.getByRole('button', { name: 'What would it cost?' }).click()
  const result = await run
    .getByText('At most')
    .getByTitle(/micro-USD/)
    .getAttribute('title')
  const atMost = Number(result!.replaceAll(/\D/g, ''))

  await run.getByLabel('Max cost (USD)').fill('0.000001')
  await start.click()
  await answered.getByText('Failed', { exact: true }).waitFor()
  await answered.getByText(/the execution may cost at most \$0\.000001/).waitFor()
  expect(await settled()).toBe(0)
  await run.getByLabel('Max cost (USD)').fill('')
  await start.click()
  await answered.getByText('Succeeded').waitFor()
  const paid = await settled()
  expect([paid > 0, paid <= atMost]).toEqual([true, true])

  await canvasOf(page).select('out')
  await run.getByRole('button', { name: 'Run from out' }).click()
  await answered.getByText('kept their results').waitFor()
  await canvasOf(page).node('draft').getByText('reused').waitFor()
  await canvasOf(page).node('out').getByText('done').waitFor()
  expect(await settled()).toBe(paid)
  await canvasOf(page).select('draft')
  await run.getByRole('button', { name: 'Run from draft' }).click()
  await canvasOf(page).node('draft').getByText('done').waitFor()
  await answered.getByText('Succeeded').waitFor()
  expect(await settled()).toBe(2 * paid)

  await page.getByRole('button', { name: 'Executions', exact: true }).click()
  const earlier = page.getByRole('button', { name: 'Show on canvas' })
  await expect.poll(() => earlier.count()).toBe(4)
  await earlier.last().click()
  await canvasOf(page).node('draft').getByText('failed').waitFor()
  expect(problems).toEqual([])
})

const edgesOfDecisions = [
  ['in.topic', 'ask.topic'],
  ['in.tone', 'ask.tone'],
  ['ask.text', 'draft.prompt'],
  ['draft.text', 'long.text'],
  ['long.true.text', 'trim.prompt'],
  ['trim.text', 'out.text'],
  ['long.false.text', 'out.text'],
] as const

test('a flow can be edited, undone, redone and saved with the keyboard alone', async ({ stack, visit }) => {
  const { owner, address, saved } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address)
  await canvasOf(page).node('ask').waitFor()
  await page.getByRole('button', { name: /^Problems/ }).press('Enter')
  await canvasOf(page).node('ask').focus()
  await page.keyboard.press('/')
  await typeFocused(page, 'expression')
  await page.keyboard.press('Enter')
  await page.getByText('The input text of node expression is not wired.').first().waitFor()
  await tabTo(page, 'Connect input text, any, needs a value')
  await page.keyboard.press('Enter')
  await tabTo(page, 'draft.text string')
  await page.keyboard.press('Enter')
  await noProblem(page)
  await page.keyboard.press('Control+z')
  await page.getByText('The input text of node expression is not wired.').first().waitFor()
  await page.keyboard.press('Control+Shift+z')
  await noProblem(page)
  await page.keyboard.press('Control+f')
  await typeFocused(page, 'ask')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate('document.activeElement.dataset.id')).toBe('ask')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByLabel('Text', { exact: true }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' Be short.')
  await page.keyboard.press('Control+s')
  await headed(page, 'Revision 2')
  const [graph] = await saved()
  expect(graph!.nodes[1]).toMatchObject({ template: 'Write about {{ text }}. Be short.' })
  expect(graph!.nodes.at(-1)).toMatchObject({ id: 'expression', kind: 'expression' })
  expect(graph!.edges.at(-1)).toEqual({ from: 'draft.text', to: 'expression.text' })
  expect(problems).toEqual([])
})

test('a lazily loaded form takes the focus unless the user has moved on', async ({ stack, visit }) => {
  const { owner, address } = await ownedFlow(stack)
  const { page } = await signedInAt(visit, owner, address)
  const { node } = canvasOf(page)
  await node('ask').waitFor()
  let release = Promise.withResolvers<void>()
  await page.route('**/node-form*.js', async (route) => {
    await release.promise
    await route.continue()
  })
  const text = page.getByLabel('Text', { exact: true })
  for (const [goesOn, focused] of [
    [false, text],
    [true, page.getByRole('button', { name: 'Executions', exact: true })],
  ] as const) {
    await page.reload()
    await node('ask').dblclick()
    if (goesOn) await focused.click()
    release.resolve()
    await text.waitFor()
    await focused.and(page.locator(':focus')).waitFor()
    release = Promise.withResolvers()
  }
})

test('unsaved changes survive a reload and can be discarded', async ({ stack, visit }) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address)
  const say = page.getByLabel('Text', { exact: true })
  await canvasOf(page).node('ask').click()
  await say.fill('Sing about {{ text }}.')
  await headed(page, 'Unsaved')
  await page.reload()
  await page.getByText(/unsaved changes from .*based on revision 1/).waitFor()
  await canvasOf(page).node('ask').click()
  await expect.poll(() => say.innerText()).toBe('Sing about {{ text }}.')
  await page.getByRole('button', { name: 'Discard' }).click()
  await canvasOf(page).node('ask').click() // no node is selected then
  await expect.poll(() => say.innerText()).toBe('Write about {{ text }}.')
  await page.reload()
  await canvasOf(page).node('ask').waitFor()
  expect(await page.getByText('unsaved changes from').count()).toBe(0)
  expect(problems).toEqual([])
})

test('a flow that does not fit opens readable from its start, even if its nodes are measured late', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await visit()
  await page.addInitScript(`globalThis.ResizeObserver = class extends ResizeObserver {
    constructor(onChange) { super((...result) => setTimeout(onChange, 300, ...result)) }
  }`)
  await page.goto(address)
  await signIn(page, owner)
  const view = (await page.locator('.react-flow').boundingBox())!
  await canvasOf(page).node('in').waitFor()
  await expect.poll(async () => (await canvasOf(page).node('in').boundingBox())!.x - view.x).toBeCloseTo(40, 0)
  const sizes = await page.evaluate<[text: string, pixels: number][]>(`{
    const zoom = new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform).a
    const texts = [...document.querySelectorAll('.node *')].filter(({ childNodes }) =>
      [...childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.textContent.trim() !== ''))
    texts.map((text) => [text.textContent, zoom * parseFloat(getComputedStyle(text).fontSize)])
  }`)
  expect(sizes.length).toBeGreaterThan(4)
  expect(sizes.filter(([, pixels]) => pixels < 11)).toEqual([])
  expect(problems).toEqual([])
})

test('double-clicking the canvas zooms in, and dragging pans it', async ({ stack, visit }) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await visit()
  await page.goto(address)
  await signIn(page, owner)
  const ask = canvasOf(page).node('ask')
  await ask.waitFor()
  const box = async () => (await ask.boundingBox())!
  const { width } = await box()
  const { x, y, height } = (await page.locator('.react-flow__pane').boundingBox())!
  await page.mouse.dblclick(x + 20, y + height / 2)
  await expect.poll(async () => (await box()).width).toBeGreaterThan(width)
  const near = await box()
  await page.mouse.move(x + 20, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x + 60, y + height / 2, { steps: 4 })
  await page.mouse.up()
  await expect.poll(async () => Math.round((await box()).x - near.x)).toBe(40)
  expect(problems).toEqual([])
})

test('a save over a newer revision shows both versions, lets the user choose, and loses nothing [revision_conflict]', async ({
  stack,
  visit,
}) => {
  const { owner, address, saved } = await ownedFlow(stack)
  const { page: first, problems } = await visit()
  const second = await first.context().newPage()
  second.on('pageerror', (error) => problems.push(String(error)))
  await first.goto(address)
  await signIn(first, owner)
  await canvasOf(first).node('ask').waitFor() // the second page shares the session
  await second.goto(address)
  await canvasOf(second).node('ask').waitFor()
  const write = async (page: Page, template: string) => {
    await canvasOf(page).node('ask').click()
    await page.getByLabel('Text', { exact: true }).fill(template)
  }
  await write(first, 'Theirs about {{ text }}.')
  await canvasOf(first).select('draft')
  await first.getByLabel('Max output tokens').fill('77')
  await first.keyboard.press('Control+s')
  await headed(first, 'Revision 2')

  await write(second, 'Mine about {{ text }}.')
  await second.keyboard.press('Control+s')
  const dialog = second.getByRole('dialog', { name: 'Revision 2 was saved in the meantime' })
  await dialog.getByText('Theirs about {{ text }}.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Save merged flow' }).isDisabled()).toBe(true)
  await dialog.getByRole('radio', { name: 'ask: mine' }).check()
  await dialog.getByRole('button', { name: 'Save merged flow' }).click()
  await headed(second, 'Revision 3')
  const [graph] = await saved()
  expect(graph!.nodes.find(({ id }) => id === 'ask')).toMatchObject({ template: 'Mine about {{ text }}.' })
  expect(graph!.nodes.find(({ id }) => id === 'draft')).toMatchObject({ params: { max_tokens: 77 } })
  expect(problems).toEqual([])
})

/** Problems that the code shipped to the browser finds in these flows. */
async function foundOnPage(page: Page, flows: SentFlow[]): Promise<unknown[]> {
  const program = path.join(import.meta.dirname, '../packages/flow/src/browser-program.fixture.ts')
  const { script } = await browserBundle(program, { plugins: [leftOut] })
  const sent = flows.map((flow) => JSON.stringify({ ...flow, products: [...flow.products] }))
  return page.evaluate<unknown[]>(
    `${script}\n${JSON.stringify(sent)}.map((flow) => JSON.parse(program.judge(flow)).problems ?? [])`,
  )
}
type SentFlow = ReturnType<typeof validFlow> extends fc.Arbitrary<infer Flow> ? Flow : never

test('the browser finds the same problems as Node in 2,000 graphs', async ({ visit }) => {
  const { page } = await visit()
  const flows = [validFlow(), changedFlow].flatMap((flow) => fc.sample(flow, { numRuns: 1000, seed: 15 }))
  const here = flows.map(({ graph, products }) => validateGraph(graph, products))
  expect(await foundOnPage(page, flows)).toEqual(here)
  expect(here.filter((problems) => problems.length > 0).length).toBeGreaterThan(500)
})

/** Separated by two or more spaces. */
const expressionParts = String.raw`
  x  x.y  2u  99999999999999999999999u  1.5  "s"  b'a'  [1, x]  {"a": 1}  x[?1]  x.?y  .x  size(x)  !x  -x  (x  x ? y : 1
  x.map(a, a)  x.map(1, y)  x.map(a, true, a)  x.filter(1, 2)  x.all(1, 2)  x.exists("a", 2)  all(x, y)  x.map()
  x.exists_one(y.z, 2)  has(x.y)  has(1)  cel.bind(1, 1, a)  x.optMap(1, y)  x.orValue(1)  matches(x, "a")
  "\u00zz"  r"\n"  """a"""  for  x // c`
  .trim()
  .split(/\s{2,}/)

test('the browser and Node agree on 1,000 expressions, most of them invalid', async ({ visit }) => {
  const { page } = await visit()
  const part = fc.constantFrom(...expressionParts)
  const operator = fc.constantFrom(' + ', ' && ', ' == ', ' in ', ' % ', ' || ', ', ')
  const expression = fc.tuple(part, operator, part).map((parts) => parts.join(''))
  const flows = fc.sample(fc.oneof(part, expression), { numRuns: 1000, seed: 15 }).map((written): SentFlow => {
    const side = { type: 'object' as const, properties: { x: { type: 'string' } }, required: ['x'] }
    const nodes = [
      { id: 'in', kind: 'input' },
      { id: 'e', kind: 'expression', expression: written },
      { id: 'out', kind: 'output' },
    ]
    const edges = [
      { from: 'in.x', to: 'e.x' },
      { from: 'e.value', to: 'out.x' },
    ]
    return { graph: { input: side, output: side, nodes, edges }, input: { x: '' }, products: new Map() }
  })
  const here = flows.map(({ graph, products }) => validateGraph(graph, products))
  expect(await foundOnPage(page, flows)).toEqual(here)
  expect(new Set(here.map((problems) => problems[0]?.message)).size).toBeGreaterThan(20)
})
