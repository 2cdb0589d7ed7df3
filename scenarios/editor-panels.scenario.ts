import { expect } from 'vitest'
import { hindrances, intercept, isTooWide, type Page } from './src/console/browser.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import { canvasOf } from './src/console/flow-canvas.ts'
import { ownedFlow } from './src/console/owned-flow.ts'
import { signedInAt } from './src/console/users.ts'
import { choose, optionsOf } from './src/console/widgets.ts'
import type { Stack } from './src/stack.ts'

// The panels of the flow editor in a browser: layout, forms, runs and executions.

const wide = { width: 1440, colorScheme: 'light' } as const

/** Middle of the canvas, in pixels of the flow. */
const middleOf = (page: Page) =>
  page.evaluate<{ x: number; y: number }>(`{
    const { a: zoom, e: x, f: y } = new DOMMatrix(getComputedStyle(document.querySelector('.react-flow__viewport')).transform)
    const { width, height } = document.querySelector('.flow-canvas').getBoundingClientRect()
    const middle = { x: Math.round((width / 2 - x) / zoom), y: Math.round((height / 2 - y) / zoom) }
    middle
  }`)
const widthOf = async (page: Page, id: string) => Math.round((await page.locator(`#${id}`).boundingBox())!.width)

/** Opens the canvas, and presses a node before the panels with handles arrive. */
async function pressedBeforeHandles(
  stack: Stack,
  visit: Parameters<typeof signedInAt<{ page: Page }>>[0],
): Promise<Page> {
  const { owner, address } = await ownedFlow(stack)
  const { page } = await signedInAt(visit, owner, owner.home, wide)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const pressed = Promise.withResolvers<void>()
  await intercept(
    page,
    ({ pathname }) => pathname.includes('resizable-panels'),
    async (route) => {
      await pressed.promise
      await route.continue()
    },
  )
  await page.goto(address)
  await canvasOf(page).node('ask').hover()
  await page.mouse.down()
  const arrived = page.waitForResponse((response) => response.url().includes('resizable-panels'))
  pressed.resolve()
  await arrived
  await handleOf(page)
    .waitFor({ timeout: 1_000 })
    .catch(() => {})
  return page
}
const handleOf = (page: Page) => page.getByRole('separator', { name: 'Resize the inspector' })

test('a node that is pressed while the panels with handles arrive is selected', async ({ stack, visit }) => {
  const page = await pressedBeforeHandles(stack, visit)
  await page.mouse.up()
  await page.getByLabel('Text', { exact: true }).waitFor()
  await handleOf(page).waitFor()
})

test('the panels with handles never replace the others while something is pressed', async ({ stack, visit }) => {
  const page = await pressedBeforeHandles(stack, visit)
  const [whenPressed, later] = await page.evaluate<[number, number]>(`new Promise((resolve) => {
    const handles = () => document.querySelectorAll('[role=separator]').length
    dispatchEvent(new PointerEvent('pointerup'))
    setTimeout(() => {
      dispatchEvent(new PointerEvent('pointerdown'))
      const whenPressed = handles()
      setTimeout(() => resolve([whenPressed, handles()]), 500)
    })
  })`)
  expect(later).toBe(whenPressed)
  await page.mouse.up()
  await handleOf(page).waitFor()
})

test('panels collapse and resize by mouse and keyboard, keep the center of the canvas, and are remembered', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  await canvasOf(page).node('ask').waitFor()
  const before = await middleOf(page)
  const palette = page.getByRole('button', { name: 'Node palette' })
  expect(await palette.getAttribute('aria-expanded')).toBe('true')
  await palette.click()
  await page.getByRole('navigation', { name: 'Node palette' }).waitFor({ state: 'hidden' })
  await expect.poll(() => middleOf(page)).toEqual(before)
  await page.keyboard.press('Control+j')
  await page.getByText('No problems. Ready to activate.').waitFor()
  await expect.poll(() => middleOf(page)).toEqual(before)

  const handle = page.getByRole('separator', { name: 'Resize the inspector' })
  const standard = await widthOf(page, 'flow-inspector')
  const { x, y, height } = (await handle.boundingBox())!
  await page.mouse.move(x, y + height / 2)
  await page.mouse.down()
  await page.mouse.move(x - 100, y + height / 2, { steps: 5 })
  await page.mouse.up()
  await expect.poll(() => widthOf(page, 'flow-inspector')).toBe(standard + 100)
  await handle.focus()
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => widthOf(page, 'flow-inspector')).toBeLessThan(standard + 100)
  const left = await widthOf(page, 'flow-inspector')
  expect(await hindrances(page)).toEqual([])

  await page.reload()
  await canvasOf(page).node('ask').waitFor()
  await page.getByText('No problems. Ready to activate.').waitFor()
  expect(await palette.getAttribute('aria-expanded')).toBe('false')
  expect(await widthOf(page, 'flow-inspector')).toBe(left)
  await handle.dblclick()
  await expect.poll(() => widthOf(page, 'flow-inspector')).toBe(standard)
  await page.keyboard.press('Control+i')
  await page.getByRole('complementary', { name: 'Inspector' }).waitFor({ state: 'hidden' })
  await page.keyboard.press('Control+b')
  await page.getByRole('navigation', { name: 'Node palette' }).waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('complementary', { name: 'Inspector' }).waitFor()
  expect(await isTooWide(page)).toBe(false)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('complementary', { name: 'Inspector' }).waitFor({ state: 'hidden' })
  await page.getByRole('navigation', { name: 'Node palette' }).waitFor()
  expect(problems).toEqual([])
})

test('code fields have colors, completion and checks under the policy, keep what was typed before they loaded, and Tab leaves them', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  const loading = Promise.withResolvers<void>()
  await intercept(page, '**/code-mirror*.js', async (route) => {
    await loading.promise
    await route.continue()
  })
  const text = page.getByLabel('Text', { exact: true })
  await canvasOf(page).node('ask').dblclick()
  await page.locator('textarea:focus').waitFor()
  await page.keyboard.press('Control+Home')
  await page.keyboard.type('Please: ')
  loading.resolve()
  await page.locator('.code-editor').waitFor()
  await text.and(page.locator(':focus')).waitFor()
  await page.keyboard.type('do. ')
  expect(await text.innerText()).toBe('Please: do. Write about {{ text }}.')
  const colors = await page.evaluate<string[]>(
    `[...document.querySelector('.code-editor').shadowRoot.querySelectorAll('.code-name, .cm-content')].map((part) => getComputedStyle(part).color)`,
  )
  expect(new Set(colors).size).toBe(2)

  await page.keyboard.press('Control+End')
  await page.keyboard.type(' {{ te')
  await page.getByRole('option', { name: /text/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type(' + ')
  await page.keyboard.press('Escape')
  await page.keyboard.type('}}')
  await page.locator('.cm-lintRange-error').first().waitFor()
  expect(await hindrances(page)).toEqual([])
  await page.keyboard.press('Tab')
  expect(await text.and(page.locator(':focus')).count()).toBe(0)
  await text.fill('Please: do. Write about {{ text }}.')
  await expect.poll(() => page.locator('.cm-lintRange-error').count()).toBe(0)

  await page.getByRole('button', { name: 'JSON' }).click()
  const json = page.getByLabel('Graph as JSON')
  await json.and(page.locator('.cm-content')).waitFor()
  await page.locator('.cm-foldGutter span[title="Fold line"]').first().click()
  await page.locator('.cm-foldPlaceholder').first().waitFor()
  await json.focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{ "nodes": [ }')
  await page
    .getByText(/Invalid JSON/)
    .first()
    .waitFor()
  await page.locator('.cm-lintRange-error, .cm-lintPoint-error').first().waitFor({ state: 'attached' })
  expect(await hindrances(page)).toEqual([])
  await page.getByRole('button', { name: 'Reset to the graph' }).click()
  await expect.poll(() => json.innerText()).toContain('Please: do.')
  expect(problems).toEqual([])
})

test('the run form keeps its inputs and named sets, and raises a max cost that was too low [ceiling_reached]', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  await canvasOf(page).node('draft').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const run = page.locator('.run-panel')
  const text = run.getByLabel('text', { exact: true })
  const named = async (button: string, name: string, submit: string) => {
    await run.getByRole('button', { name: button, exact: true }).click()
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await page.getByRole('dialog').getByRole('button', { name: submit, exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await text.fill('rain')
  await named('Save inputs', 'Wet', 'Save')
  await text.fill('sun')
  await named('Save inputs', 'Dry', 'Save')
  await named('Rename', 'Sunny', 'Rename')
  await choose(run, 'Test inputs', 'Wet')
  expect(await text.inputValue()).toBe('rain')
  await run.getByLabel('Max cost (USD)').fill('0.000001')
  await page.reload()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  expect(await text.inputValue()).toBe('rain')
  expect(await optionsOf(run, 'Test inputs')).toEqual(['Unsaved inputs', 'Sunny', 'Wet'])
  await choose(run, 'Test inputs', 'Sunny')
  await run.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await text.fill('rain')

  await run.getByRole('button', { name: 'Run', exact: true }).click()
  const answered = page.getByRole('region', { name: 'Result of the execution' })
  await answered.getByText(/^Set the max cost to \$0\.\d+ or higher, or leave it empty\.$/).waitFor()
  expect(await hindrances(page)).toEqual([])
  await answered.getByRole('button', { name: /^Set the max cost to \$0\.\d+ and run again$/ }).click()
  await answered.getByText('Succeeded', { exact: true }).waitFor()
  expect(Number(await run.getByLabel('Max cost (USD)').inputValue())).toBeGreaterThan(0.000001)
  const { y, height } = (await answered.boundingBox())!
  expect(y + Math.min(height, 40)).toBeLessThan(900)
  expect(problems).toEqual([])
})

test('an execution opened from the list says what it is, shows its inputs and revision, and gives the form back', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  await canvasOf(page).node('ask').click()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const run = page.locator('.run-panel')
  const text = run.getByLabel('text', { exact: true })
  await text.fill('rain')
  await run.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('region', { name: 'Result of the execution' }).getByText('Succeeded').waitFor()
  await text.fill('sun')
  await page.getByLabel('Text', { exact: true }).fill('Sing about {{ text }}.')
  await page.keyboard.press('Control+s')
  await page.locator('.flow-header').getByText('Revision 2', { exact: true }).waitFor()

  await page.goto(`${owner.home}/executions`)
  await page.locator('tbody tr').getByRole('link').click()
  const banner = page.getByRole('region', { name: 'Execution on the canvas' })
  await banner.getByText('Succeeded').waitFor()
  await banner.getByText('revision 1', { exact: true }).waitFor()
  await expect.poll(() => text.inputValue()).toBe('rain')
  await canvasOf(page).node('draft').getByText('done').waitFor({ state: 'attached' })
  await banner.getByText('The canvas shows revision 2').waitFor()
  expect(await hindrances(page)).toEqual([])
  await banner.getByRole('button', { name: 'View revision 1' }).click()
  await canvasOf(page).node('ask').getByText('Write about {{ text }}.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await canvasOf(page).node('ask').getByText('Sing about {{ text }}.').waitFor()
  await banner.getByRole('button', { name: 'Back to editing' }).click()
  await banner.waitFor({ state: 'detached' })
  expect(await text.inputValue()).toBe('sun')
  expect(new URL(page.url()).search).toBe('')
  expect(await canvasOf(page).node('draft').getByText('done').count()).toBe(0)

  await page.goBack()
  await page.locator('tbody tr').getByRole('link').click()
  await banner.getByRole('button', { name: 'Use its inputs' }).click()
  await banner.getByRole('button', { name: 'Back to editing' }).click()
  expect(await text.inputValue()).toBe('rain')
  expect(problems).toEqual([])
})

test('the header fits one row, names its icons in tooltips, and renames, duplicates and exports from its menu', async ({
  stack,
  visit,
}) => {
  const { owner, id, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  await canvasOf(page).node('ask').waitFor()
  const more = page.getByRole('button', { name: 'More actions' })
  const choose = async (name: string) => {
    await more.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name }).click()
  }
  await more.click()
  await page.getByRole('menuitem', { name: 'Rename' }).waitFor()
  expect(await hindrances(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Undo' }).hover()
  await page.locator('.tip').getByText('Ctrl Z').waitFor()
  await choose('Rename')
  await page.getByRole('dialog').getByLabel('Name').fill('A flow with quite a long name, longer than a phone is wide')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await page.getByRole('heading', { name: 'A flow with quite a long name' }).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const [download] = await Promise.all([page.waitForEvent('download'), choose('Export')])
  expect(download.suggestedFilename()).toMatch(/^a-flow-with-quite/)
  await page.setViewportSize({ width: 390, height: 844 })
  expect((await page.locator('.flow-header').boundingBox())!.height).toBeLessThan(56)
  expect(await isTooWide(page)).toBe(false)
  await page.setViewportSize({ width: 1440, height: 900 })
  await choose('Duplicate')
  await page.getByRole('dialog').getByLabel('Name').fill('A copy')
  await page.getByRole('dialog').getByRole('button', { name: 'Duplicate flow' }).click()
  await page.getByRole('heading', { name: 'A copy' }).waitFor()
  await canvasOf(page).node('ask').waitFor()
  expect(page.url()).not.toContain(id)
  expect(problems).toEqual([])
})

test('the inspector shows problems at their field, and holds text that cannot be applied while another node is chosen', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address, wide)
  await canvasOf(page).select('draft')
  const tokens = page.getByLabel('Max output tokens')
  await tokens.fill('999999')
  await page.getByText(/^Enter a number from 0 to [\d,]+\.$/).waitFor()
  expect(await tokens.getAttribute('aria-invalid')).toBe('true')
  expect(await page.getByRole('list', { name: 'Problems of this node' }).count()).toBe(0)
  await tokens.fill('many')
  await page.getByText('Enter a number.').waitFor()
  await canvasOf(page).node('ask').click()
  await page.getByLabel('Text', { exact: true }).fill('Write {{ text')
  await page.getByText('that no }} closes').first().waitFor()
  await canvasOf(page).select('draft')
  expect(await tokens.inputValue()).toBe('many')
  expect(await hindrances(page)).toEqual([])
  expect(problems).toEqual([])
})
