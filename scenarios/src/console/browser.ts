import axe from 'axe-core'
import type { Browser, Page, Route } from 'playwright-core'

// The console in a real browser.

export interface View {
  width: number
  colorScheme: 'light' | 'dark'
}

/** Long enough for a machine that is busy with other tests. */
const LONGEST_WAIT_MS = 60_000

/** Viewports and color schemes that every screen must support. */
export const views: View[] = [
  { width: 1280, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
]

export type { Page } from 'playwright-core'

/** Opens a page in a new browser context. `problems` collects its script errors and console warnings. */
export async function openPage(browser: Browser, { width, colorScheme }: View = views[0]!) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  context.setDefaultTimeout(LONGEST_WAIT_MS)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    // The browser logs refusals as network errors, but the page displays them.
    const isRefusal = message.text().startsWith('Failed to load resource')
    if (['error', 'warning'].includes(message.type()) && !isRefusal) problems.push(message.text())
  })
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => console.error('forbidden: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  )
  return { page, problems, close: () => context.close() }
}

/**
 * Answers requests of an open page instead of the service, from the next one on. A busy page sends its first requests
 * past `page.route` alone, because the browser confirms a route before the page knows of it.
 */
export async function intercept(
  page: Page,
  requests: string | ((url: URL) => boolean),
  answer: (route: Route) => Promise<unknown>,
): Promise<void> {
  await page.route(requests, answer)
  await page.route('**/is-intercepted', (route) => route.fulfill({ status: 204 }))
  const isAnswered = () => page.evaluate<boolean>(`fetch('/is-intercepted').then(({ status }) => status === 204)`)
  for (let tries = 1; !(await isAnswered()); tries++) if (tries === 100) throw new Error('the route stays unused')
  await page.unroute('**/is-intercepted')
}

/** Serious accessibility violations found by axe, with the HTML of each. */
export async function hindrances(page: Page): Promise<string[]> {
  await page.waitForSelector('.waiting', { state: 'detached' }) // it fades in: its contrast has no one value
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

/** Whether the page scrolls sideways. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')
}
