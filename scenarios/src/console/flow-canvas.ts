import type { Locator } from 'playwright-core'
import { expect } from 'vitest'
import type { Page } from './browser.ts'

// Mouse and keyboard actions on the flow canvas.

interface Point {
  x: number
  y: number
}

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
  const edge = (from: string, to: string) => page.getByLabel(`From ${from} to ${to}`, { exact: true })

  /** A point on the line of the edge, halfway. */
  function middleOfEdge(from: string, to: string): Promise<Point> {
    return page.evaluate<Point>(`{
      const path = document.querySelector('[aria-label="From ${from} to ${to}"] .react-flow__edge-path')
      const { x, y } = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM())
      ;({ x, y })
    }`)
  }
  const middleOfPort = (id: string, port: string, side: 'source' | 'target') => middleOf(handle(id, port, side))

  /** Drags the target end of an edge to a point. */
  async function pullEnd(from: string, to: string, end: Point): Promise<void> {
    const start = await middleOf(edge(from, to).locator('.react-flow__edgeupdater-target'))
    await drag(start, end)
  }
  async function drag(start: Point, end: Point): Promise<void> {
    await page.mouse.move(start.x, start.y)
    await page.mouse.down()
    await page.mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 5 })
    await page.mouse.move(end.x, end.y, { steps: 5 })
    await page.mouse.up()
  }
  /** Drags a node by the middle of its head to a point. */
  async function dragNode(id: string, end: Point): Promise<void> {
    await drag(await middleOf(node(id).locator('.node-head')), end)
  }
  /** Drags a row of the palette to a point, as the browser drags. */
  async function dropFromPalette(what: RegExp, end: Point): Promise<void> {
    const row = page.getByRole('navigation', { name: 'Node palette' }).getByRole('button', { name: what })
    await drag(await middleOf(row), end)
  }
  /** Chooses an item of the context menu, which Shift+F10 opens first if `by` is the keyboard. */
  async function menu(item: string, by: 'mouse' | 'keyboard' = 'mouse'): Promise<void> {
    if (by === 'keyboard') await page.keyboard.press('Shift+F10')
    const chosen = page.getByRole('menuitem', { name: item, exact: true })
    await chosen.waitFor()
    if (by === 'mouse') return chosen.click()
    await page.locator('[role=menu]:focus-within').waitFor()
    await page.keyboard.type(item.slice(0, 4))
    await page.keyboard.press('Enter')
  }
  /**
   * Clicks a node after fitting the view. To click one that is out of sight, the browser would scroll the canvas, and
   * the canvas scrolls back, perhaps while the button is pressed.
   */
  async function select(id: string, how: Parameters<Locator['click']>[0] = {}): Promise<void> {
    await page.getByRole('button', { name: 'Fit view' }).click()
    await node(id).click(how)
  }
  /** Arranges the nodes, and waits until they are where they stay. */
  async function autoLayout(): Promise<void> {
    const places = () =>
      page.evaluate<string>(
        `[...document.querySelectorAll('.react-flow__viewport, .react-flow__node')].map(({ style }) => style.transform).join()`,
      )
    const before = await places()
    await page.getByRole('button', { name: 'Auto-layout' }).click()
    await expect.poll(places).not.toBe(before)
    await expect.poll(async () => (await places()) === (await places())).toBe(true)
  }
  return {
    node,
    edge,
    select,
    autoLayout,
    pull,
    draw,
    add,
    middleOfEdge,
    middleOfPort,
    pullEnd,
    dragNode,
    dropFromPalette,
    menu,
  }
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

async function middleOf(place: Locator): Promise<Point> {
  const box = await place.boundingBox()
  if (!box) throw new Error('The element is not visible.')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}
