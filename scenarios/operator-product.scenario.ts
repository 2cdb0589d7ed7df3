import { expect } from 'vitest'
import type { Locator } from 'playwright-core'
import { openPage, views, type Page } from './src/console/browser.ts'
import { operatorTest } from './src/console/operator-test.ts'
import { consoleUser, signIn } from './src/console/users.ts'
import { choose } from './src/console/widgets.ts'
import { chat } from './src/stack.ts'

// An operator adds a product of two providers in a browser, and sees its first call.

const test = operatorTest()

test('an operator adds a product from a known model, orders its providers, publishes and assigns it, and sees its first call with the exact charge', async ({
  place,
}) => {
  const { stack, browser, alpha, beta, tenant } = place
  await stack.fixture.run('UPDATE control.users SET platform_operator = true WHERE id = $1', [tenant.owner])
  const operator = await consoleUser(stack, tenant.owner)
  const { page, problems, close } = await openPage(browser, views[0])
  await page.goto(`${operator.start}/operator/products`)
  await signIn(page, operator)
  await page.getByRole('link', { name: 'Create product' }).first().click()

  const form = page.getByRole('form', { name: 'Product' })
  const fill = (place: Locator, label: string, text: string) => place.getByLabel(label, { exact: true }).fill(text)
  await page.getByLabel('Start from a known model').fill('GPT-4o mini')
  await page.getByRole('option', { name: /GPT-4o mini/ }).click()
  await page.getByText('Check these figures with the provider').waitFor()
  await fill(form, 'Model ID', 'acme/mini')
  await fill(form, 'Name', 'Acme mini')
  await fill(form, 'Input tokens ($/1M)', '1.000001')
  await fill(form, 'Output tokens ($/1M)', '2.000003')
  const row = (n: number) => form.getByRole('group', { name: `Provider ${n}`, exact: true })
  await row(1).getByText('No running process has openai configured').waitFor()
  await fill(row(1), 'Provider', 'alpha')
  await row(1).getByText('No calls').waitFor()
  await fill(row(1), 'Provider model', 'tapir-large')
  await form.getByRole('button', { name: 'Add provider' }).click()
  await row(2).getByLabel('Provider', { exact: true }).click()
  await page.getByRole('option', { name: /^beta/ }).click()
  await fill(row(2), 'Provider model', 'tapir-small')

  await dragBelow(page, row(1), row(2))
  expect(await row(1).getByLabel('Provider', { exact: true }).inputValue()).toBe('beta')
  await row(1).getByLabel('Provider model').press('Alt+ArrowDown')
  expect(await row(1).getByLabel('Provider', { exact: true }).inputValue()).toBe('alpha')
  await dragBelow(page, row(1), row(2))
  expect(await row(1).getByLabel('Provider', { exact: true }).inputValue()).toBe('beta')

  await form.getByRole('button', { name: 'Save draft' }).click()
  await page.getByText('Only operators see this product.').waitFor()
  await form.getByRole('button', { name: 'Save and publish' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Publish product' }).click()
  await page.getByRole('link', { name: /^Assign to a project of/ }).click()
  await page.goto(`${operator.start}/organizations/${tenant.project.tenant}/projects/${tenant.project.id}`)
  await page.getByRole('button', { name: 'Assign product' }).click()
  await choose(page.getByRole('dialog'), 'Product', /^Acme mini/)
  await page.getByRole('dialog').getByRole('button', { name: 'Assign product' }).click()
  await page.getByRole('row').filter({ hasText: 'acme/mini' }).getByText('Available').waitFor()

  const answer = await chat(stack, { ...tenant, model: 'acme/mini' })
  expect(answer.status).toBe(200)
  const { usage } = (await answer.json()) as { usage: { prompt_tokens: number; completion_tokens: number } }
  expect([await alpha.countCalls(), await beta.countCalls()]).toEqual([0, 1])

  const pico = BigInt(usage.prompt_tokens) * 1_000_001n + BigInt(usage.completion_tokens) * 2_000_003n
  const micro = (pico + 999_999n) / 1_000_000n
  await expect.poll(async () => (await stack.wallet(tenant.project.id)).settled).toBe(micro)
  await page.goto(`${operator.start}/projects/${tenant.project.tenant}/${tenant.project.id}/calls`)
  const call = page.getByRole('row').filter({ hasText: 'acme/mini' })
  await call.getByText(`$${(Number(micro) / 1e6).toFixed(6).replace(/0+$/, '')}`, { exact: true }).waitFor()
  await page.goto(`${operator.start}/operator/providers`)
  const calls = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'beta', exact: true }) })
  await calls.getByText('Healthy').waitFor()

  await page.goto(`${operator.start}/operator/products/${encodeURIComponent('acme/mini')}`)
  await page.getByRole('link', { name: 'Try it in the playground' }).click()
  await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
  expect(problems).toEqual([])
  await close()
})

/** Drags a row by its handle with the mouse, to below another one. */
async function dragBelow(page: Page, row: Locator, other: Locator): Promise<void> {
  await row.scrollIntoViewIfNeeded()
  const handle = (await row.locator('.route-handle').boundingBox())!
  await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2)
  await page.mouse.down()
  const { x, y, height } = (await other.boundingBox())!
  await page.mouse.move(x + 20, y + height - 4, { steps: 8 })
  await page.mouse.up()
}
