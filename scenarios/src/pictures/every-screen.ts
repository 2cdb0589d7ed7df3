import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { makeHistory, type Facts } from './make-history.ts'

// Every screen of the console, wide and narrow, in both color schemes: to be looked at, not part of the documentation.

const views = [
  { name: 'wide', width: 1440, height: 900 },
  { name: 'narrow', width: 390, height: 844 },
] as const

/** Addresses after `/console`, by the name of the picture. */
function screensOf({ tenant, project, sandboxes, models: [model] }: Facts, call: string): Record<string, string> {
  const home = `/projects/${tenant}/${project}`
  const organization = `/organizations/${tenant}`
  const screens = (base: string, names: string[]) => Object.fromEntries(names.map((name) => [name, `${base}/${name}`]))
  return {
    projects: '/',
    overview: home,
    ...screens(home, ['models', 'playground', 'flows', 'executions', 'assets', 'calls', 'refusals', 'notices']),
    call: `${home}/calls/${call}`,
    model: `${home}/models/${encodeURIComponent(model!)}`,
    usage: `${home}/usage?range=day`,
    ...screens(home, ['statement', 'keys', 'users', 'settings']),
    flow: `${home}/flows/${sandboxes.mixed}`,
    'flow-chat': `${home}/flows/${sandboxes.chat}`,
    ...screens(organization, ['members', 'teams', 'budgets', 'audit', 'tokens', 'webhooks']),
    'organization-projects': `${organization}/projects`,
    'operator-products': '/operator/products',
    'operator-new-product': '/operator/products/-/new',
    'operator-product': `/operator/products/${encodeURIComponent(model!)}`,
    'operator-providers': '/operator/providers',
    'operator-provider': '/operator/providers/simulated',
    'operator-wallets': '/operator/wallets?column=runway&order=asc',
    'operator-revenue': '/operator/revenue',
    'operator-money': `/operator/money?tenant=${tenant}&project=${project}`,
    'operator-organizations': '/operator/organizations',
    'operator-users': '/operator/users',
    'operator-audit': '/operator/audit',
    account: '/account',
    'security-log': '/account/security-log',
  }
}

/** Takes `<screen>-<view>-<scheme>.png` of every screen, as a signed-in user, and of the sign-in screen. */
export async function takeEveryScreen(
  facts: Facts & { email: string; password: string },
  { browser, folder, log }: { browser: Browser; folder: string; log: (line: string) => void },
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const { call } = await makeHistory(facts)
  const { baseUrl, email, password } = facts
  for (const { name: view, ...viewport } of views)
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ viewport, colorScheme })
      const page = await context.newPage()
      const take = async (name: string, address: string) => {
        await page.goto(`${baseUrl}/console${address}`)
        await settled(page)
        await page.screenshot({ path: path.join(folder, `${name}-${view}-${colorScheme}.png`), animations: 'disabled' })
      }
      await take('sign-in', '/')
      const signedIn = await context.request.post(`${baseUrl}/api/v2/session`, { data: { email, password } })
      if (!signedIn.ok()) throw new Error(`Sign-in failed with ${signedIn.status()}.`)
      for (const [name, address] of Object.entries(screensOf(facts, call))) await take(name, address)
      log(`${view}, ${colorScheme}: done`)
      await context.close()
    }
}

async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.locator('.skeleton, .waiting').first().waitFor({ state: 'detached' })
}
