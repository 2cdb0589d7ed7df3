import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { makeHistory, type Facts } from './make-history.ts'

interface Picture {
  /** File name without `.png`. */
  name: string
  /** Path after `/console`. */
  address: (facts: Facts) => string
  /** Brings the page to the state to capture. */
  show: (page: Page, facts: Facts) => Promise<unknown>
}

const heading = (name: string) => (page: Page) => page.getByRole('heading', { name, level: 1 }).waitFor()
const home = ({ tenant, project }: Facts) => `/projects/${tenant}/${project}`

/** The main screens shown in docs/console.md. */
export const pictures: Picture[] = [
  { name: 'overview', address: home, show: (page) => page.getByText('Available', { exact: true }).first().waitFor() },
  {
    name: 'flow',
    address: (facts) => `${home(facts)}/flows/${facts.sandboxes.mixed}`,
    show: async (page) => {
      await page.getByRole('button', { name: 'Executions' }).click()
      await page.getByRole('button', { name: 'Show on canvas' }).first().click()
      await page.getByText('$0.04').first().waitFor()
    },
  },
  { name: 'calls', address: (facts) => `${home(facts)}/calls`, show: (page) => page.getByRole('row').nth(5).waitFor() },
  {
    name: 'call',
    address: (facts) => `${home(facts)}/calls`,
    show: async (page) => {
      await page.getByRole('row').nth(2).getByRole('link').first().click()
      await page.getByText('Charged').first().waitFor()
    },
  },
  { name: 'usage', address: (facts) => `${home(facts)}/usage?range=day`, show: heading('Usage') },
  { name: 'statement', address: (facts) => `${home(facts)}/statement`, show: heading('Statement') },
  { name: 'keys', address: (facts) => `${home(facts)}/keys`, show: heading('API keys') },
  {
    name: 'key',
    address: (facts) => `${home(facts)}/keys`,
    show: async (page) => {
      await page.getByRole('link', { name: 'First key' }).click()
      await page.getByRole('region', { name: 'Latest calls' }).waitFor()
    },
  },
  { name: 'models', address: (facts) => `${home(facts)}/models`, show: heading('Models') },
  { name: 'users', address: (facts) => `${home(facts)}/users`, show: heading('Users') },
  { name: 'refusals', address: (facts) => `${home(facts)}/refusals`, show: heading('Errors') },
]

/** Takes every screenshot as a signed-in user. @param facts about a seeded stack */
export async function takePictures(
  facts: Facts & { email: string; password: string },
  { browser, folder }: { browser: Browser; folder: string },
): Promise<void> {
  await mkdir(folder, { recursive: true })
  await makeHistory(facts)
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' })
  const { baseUrl, email, password } = facts
  const signedIn = await context.request.post(`${baseUrl}/api/v2/session`, { data: { email, password } })
  if (!signedIn.ok()) throw new Error(`Sign-in failed with ${signedIn.status()}.`)
  for (const { name, address, show } of pictures) {
    const page = await context.newPage()
    await page.goto(`${baseUrl}/console${address(facts)}`)
    await show(page, facts)
    await page
      .getByText(/^Loading/)
      .first()
      .waitFor({ state: 'detached' })
    await page.waitForLoadState('networkidle')
    await page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled', caret: 'hide' })
    await page.close()
  }
  await context.close()
}
