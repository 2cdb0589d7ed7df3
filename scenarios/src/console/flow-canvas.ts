import type { Locator } from 'playwright-core'
import type { Page } from './browser.ts'

// What users do on the canvas of a flow, with the mouse and with the keyboard.

export function canvasOf(page: Page) {
  const node = (id: string) => page.locator(`.react-flow__node[data-id="${id}"]`)
  const handle = (id: string, port: string, side: 'source' | 'target') =>
    node(id).locator(`.react-flow__handle.${side}[data-handleid="${port}"]`)

  /** Leads an edge by mouse, and leaves the button down. */
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
  /** Adds by the palette, and names it in the form. */
  async function add(what: RegExp, id: string): Promise<void> {
    await page.getByRole('navigation', { name: 'Node palette' }).getByRole('button', { name: what }).click()
    await page.getByLabel('ID', { exact: true }).fill(id)
    await page.getByLabel('ID', { exact: true }).press('Enter')
    await node(id).waitFor()
  }
  return { node, pull, draw, add }
}

/** Continues with Tab until what has the focus is called so. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const most = 200
  for (let n = 0; n < most; n++) {
    await page.keyboard.press('Tab')
    const label = await page.evaluate<string>(
      'document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent',
    )
    if (label === name) return
  }
  throw new Error(`Nothing called ${name} is reached by Tab.`)
}

/** `node.port`, at the first dot. */
function split(end: string): [node: string, port: string] {
  const dot = end.indexOf('.')
  return [end.slice(0, dot), end.slice(dot + 1)]
}

async function middleOf(place: Locator): Promise<{ x: number; y: number }> {
  const box = await place.boundingBox()
  if (!box) throw new Error('It is not shown.')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}
