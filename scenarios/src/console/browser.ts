import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'

// The console in a real browser, as users see it.

export interface View {
  width: number
  colorScheme: 'light' | 'dark'
}

/** On a machine that is busy with other tests. */
const LONGEST_WAIT_MS = 60_000

/** Every screen has to hold in these. */
export const views: View[] = [
  { width: 1280, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
]

export type { Page } from 'playwright-core'

/** A page of someone who was never here, with all that went wrong in it. */
export async function openPage(browser: Browser, { width, colorScheme }: View = views[0]!) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  context.setDefaultTimeout(LONGEST_WAIT_MS)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    // A refusal is an answer that the page shows; the browser calls it an error of its network.
    const isRefusal = message.text().startsWith('Failed to load resource')
    if (['error', 'warning'].includes(message.type()) && !isRefusal) problems.push(message.text())
  })
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('forbidden: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  )
  return { page, problems, close: () => context.close() }
}

/** What keeps someone from using what is shown, with the places where. */
export async function hindrances(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

/** Whether something sticks out to the side, so that one has to scroll there. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
}

/** Texts that are drawn over each other, as pairs: neither can be read. */
export function overlaps(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const shown = [...(document.querySelector('dialog[open]') ?? document.body).querySelectorAll('*')].filter((element) =>
      element.children.length === 0 && element.textContent.trim() !== '' &&
      element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !element.closest('.visually-hidden, option, svg'))
    const texts = shown.map((element) => {
      const range = document.createRange()
      range.selectNodeContents(element)
      // Line by line: the box around a text that wraps holds what stands before its second line.
      return { text: element.textContent, lines: [...range.getClientRects()] }
    })
    const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2
    return texts.flatMap((one, n) => texts.slice(n + 1)
      .filter((other) => one.lines.some((line) => other.lines.some((its) => over(line, its)))).map((other) => one.text + ' | ' + other.text))
  })()`)
}
