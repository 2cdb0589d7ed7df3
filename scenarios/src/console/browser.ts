import { findChromium } from '@gateway/testbed/chromium-binary'
import axe from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'

// The console in a real browser, as people see it.

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

export async function openBrowser(): Promise<Browser> {
  // The sandbox of Chromium is not for root; what is shown here is our own.
  return chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] })
}

/** A page of somebody who was never here, with all that went wrong in it. */
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

/** What keeps somebody from using what is shown, with the places where. */
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
