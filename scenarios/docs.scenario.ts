import { expect } from 'vitest'
import { consoleTest as test } from './src/console/console-test.ts'
import { hindrances, isTooWide, views, type Page } from './src/console/browser.ts'

// The documentation in a browser, through a gateway.

const pages = [
  '/docs',
  '/docs/first-call',
  '/docs/flows',
  '/docs/rules',
  '/docs/money',
  '/docs/operating',
  '/docs/mcp',
  '/docs/refusals',
  '/docs/refusals/key_limit',
]

const linksOf = (page: Page) =>
  page.evaluate<string[]>('[...document.links].filter(({ host }) => host === location.host).map(({ href }) => href)')

for (const view of views)
  test(`every kind of page is accessible at ${view.width} pixels in ${view.colorScheme}`, async ({ stack, visit }) => {
    const { page, problems } = await visit(view)
    for (const path of pages) {
      await page.goto(stack.gateways[0]!.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect([path, await hindrances(page), await isTooWide(page)]).toEqual([path, [], false])
    }
    expect(problems).toEqual([])
  })

test('every internal link of the documentation resolves', async ({ stack, visit }) => {
  const { page } = await visit()
  const start = `${stack.gateways[0]!.url}/docs`
  const seen = new Map<string, number>()
  const open = [start]
  for (let address = open.pop(); address !== undefined; address = open.pop()) {
    if (seen.has(address)) continue
    const answer = await page.goto(address)
    seen.set(address, answer!.status())
    if (!address.startsWith(start) || !answer!.headers()['content-type']!.startsWith('text/html')) continue
    open.push(...(await linksOf(page)).map((href) => href.split('#')[0]!).filter((href) => !href.endsWith('.md')))
  }
  expect([...seen].filter(([, status]) => status !== 200)).toEqual([])
  expect(seen.size).toBeGreaterThan(15)
})

test('the copy button copies a code block', async ({ stack, visit }) => {
  const { page } = await visit()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`${stack.gateways[0]!.url}/docs/flows`)
  const block = page.locator('.block').first()
  await block.getByRole('button', { name: 'Copy' }).click()
  await page.getByRole('status').getByText('Copied').waitFor({ state: 'attached' })
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(await block.locator('code').textContent())
})

test('the API reference shows every operation and is reachable at its old URL', async ({ stack, visit }) => {
  const { page, problems } = await visit()
  const { url } = stack.gateways[0]!
  await page.goto(`${url}/docs#/Models/listModels`)
  await page.waitForURL(`${url}/docs/api#/Models/listModels`)
  await page.getByText('/v1/chat/completions').first().waitFor()
  expect(problems).toEqual([])
})
