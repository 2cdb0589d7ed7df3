import type { Locator } from 'playwright-core'
import type { Page } from './browser.ts'

// Mouse and keyboard actions on the flow canvas.

export function canvasOf(page: Page) {
  const node = (id: string) => page.locator(`.react-flow__node[data-id="${id}"]`)
  const handle = (id: string, port: string, side: 'source' | 'target') =>
    node(id).locator(`.react-flow__handle.${side}[data-handleid="${port}"]`)

  /** Drags an edge with the mouse, and keeps the button pressed. */
  async function pull(from: string, to: string): Promise<void> {
    const [fromNode, fromPort] = split(from)
    const [toNode, toPort] = split(to)
    const start = await middleOf(handle(fromNode, fromPort, 'source'))
    const end = await middleOf(handle(toNode, toPort, 'target'))
    await page.mouse.move(start.x, start.y)
    await page.mouse.down()
    await page.mouse.move(end.x + 15, end.y + 15, { steps: 5 })
    await page.mouse.move(end.x, end.y, { steps: 5 })
  }
  async function draw(from: string, to: string): Promise<void> {
    await pull(from, to)
    await page.mouse.up()
    await page.getByLabel(`From ${from} to ${to}`).waitFor({ state: 'attached' })
  }
  /** Adds a node from the palette and sets its ID. */
  async function add(what: RegExp, id: string): Promise<void> {
    await page.getByRole('navigation', { name: 'Node palette' }).getByRole('button', { name: what }).click()
    await page.getByLabel('ID', { exact: true }).fill(id)
    await page.getByLabel('ID', { exact: true }).press('Enter')
    await node(id).waitFor()
  }
  return { node, pull, draw, add }
}

/** Presses Tab until the focused element has this name. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const most = 200
  for (let n = 0; n < most; n++) {
    await page.keyboard.press('Tab')
    const label = await page.evaluate<string>(
      'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
    )
    if (label === name) return
  }
  throw new Error(`Tab doesn't reach an element named ${name}.`)
}

/** Splits `node.port` at the first dot. */
function split(end: string): [node: string, port: string] {
  const dot = end.indexOf('.')
  return [end.slice(0, dot), end.slice(dot + 1)]
}

async function middleOf(place: Locator): Promise<{ x: number; y: number }> {
  const box = await place.boundingBox()
  if (!box) throw new Error('The element is not visible.')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}
