import { expect } from 'vitest'
import { hindrances, isTooWide, type Page } from './src/console/browser.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import { canvasOf } from './src/console/flow-canvas.ts'
import { ownedFlow } from './src/console/owned-flow.ts'
import { signedInAt } from './src/console/users.ts'

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
