import { expect } from 'vitest'
import { consoleTest as test } from './src/console/console-test.ts'
import { consoleOperator, consoleOwner, signedInAt } from './src/console/users.ts'
import { chat } from './src/stack.ts'
import { choose, chooseAction } from './src/console/widgets.ts'

// The model catalog and the operator screens, in a browser, against the whole stack.

test('models can be searched, compared and estimated to the micro-USD, whether assigned or not', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack)
  const other = await stack.fixture.publishProduct({ promptPico: 150_001n, completionPico: 600_000n })
  const { page, problems } = await signedInAt(visit, tenant, `${tenant.home}/models`)
  const models = page.getByRole('table', { name: 'Models', exact: true })
  const mine = models.getByRole('row').filter({ hasText: tenant.model })
  await mine.getByText('Available').waitFor()
  await mine.getByText('$1 per 1M input tokens', { exact: true }).waitFor()
  const askable = models.getByRole('row').filter({ hasText: other })
  await askable.getByText('An Admin of your organization can assign it.').waitFor()
  await askable.getByText('$0.150001 per 1M input tokens', { exact: true }).waitFor()

  await mine.getByRole('button', { name: /^Compare/ }).click()
  await askable.getByRole('button', { name: /^Compare/ }).click()
  const comparison = page.getByRole('table', { name: 'Comparison of models' })
  await comparison.getByRole('columnheader', { name: other }).waitFor()

  await page.getByLabel('Search models').fill(other)
  await choose(page, 'Use', 'Not assigned')
  await mine.waitFor({ state: 'detached' })
  const search = new URL(page.url()).searchParams
  expect([search.get('q'), search.get('use'), search.get('compare')]).toEqual([
    other,
    'askable',
    JSON.stringify([tenant.model, other]),
  ])
  await page.reload()
  await comparison.getByRole('columnheader', { name: tenant.model }).waitFor()
  await askable.getByRole('button', { name: /^Cost of/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Input tokens per call').fill('333')
  await dialog.getByLabel('Output tokens per call').fill('7')
  await dialog.getByLabel('Calls per day').fill('1000')
  // 333 × 150001 + 7 × 600000 pico-USD = 54.150333 micro-USD, rounded up to 55 per call.
  await dialog.getByText('$0.000055', { exact: true }).waitFor()
  await dialog.getByText('$1.65', { exact: true }).waitFor()
  expect(problems).toEqual([])
})

test('an operator creates, publishes, reprices and suspends a product, and calls are refused after the suspension [model_not_found]', async ({
  stack,
  visit,
}) => {
  const [tenant, operator] = [await consoleOwner(stack), await consoleOperator(stack)]
  const model = `acme/new-${tenant.project.id}`
  const { page, problems } = await signedInAt(visit, operator, `${operator.start}/operator/products`)
  await page.getByRole('link', { name: 'Create product' }).first().click()
  const form = page.getByRole('form', { name: 'Product' })
  const fill = (label: string, text: string) => form.getByLabel(label, { exact: true }).fill(text)
  await fill('Model ID', tenant.model)
  await fill('Name', model)
  await fill('Publisher', 'acme')
  await fill('Input tokens ($/1M)', '0.15')
  await fill('Output tokens ($/1M)', 'cheap')
  await fill('Provider', 'simulated')
  await fill('Provider model', 'm-1')
  const create = form.getByRole('button', { name: 'Save draft' })
  await create.click()
  await form.getByText('Enter an amount such as 5 or 0.25, with up to six decimal places.').waitFor()
  await fill('Output tokens ($/1M)', '1.5')
  await create.click()
  await form.getByRole('alert').getByText('already_exists').waitFor()
  await fill('Model ID', model)
  await create.click()
  await page.getByText('Only operators see this product.').waitFor()

  await page.getByRole('link', { name: 'All products' }).click()
  await page.getByLabel('Search products').fill(model)
  const row = page.getByRole('row').filter({ hasText: model })
  await row.getByText('Draft').waitFor()
  await chooseAction(row, 'Publish')
  await page.getByRole('dialog').getByRole('button', { name: 'Publish product' }).click()
  await row.getByText('Published').waitFor()

  await chooseAction(row, 'Edit')
  await form.getByLabel('Output tokens ($/1M)', { exact: true }).fill('2.000001')
  await form.getByRole('button', { name: 'Save', exact: true }).click()
  await form.getByText('All changes saved').waitFor()
  await page.getByRole('link', { name: 'All products' }).click()
  await page.getByLabel('Search products').fill(model)
  await row.getByText('$2.000001').waitFor()
  const { body } = await operator.caller.ask('GET', '/api/v2/products?limit=500')
  const made = (body.data as { id: string; pricing: object }[]).find(({ id }) => id === model)
  expect(made?.pricing).toEqual({ unit: 'tokens', prompt: '0.00000015', completion: '0.000002000001' })

  const assignment = `/api/v2/tenants/${tenant.project.tenant}/projects/${tenant.project.id}/assignments/${encodeURIComponent(model)}`
  expect((await tenant.caller.ask('PUT', assignment)).status).toBe(201)
  expect((await chat(stack, { ...tenant, model })).status).toBe(200)
  const { settled } = await stack.wallet(tenant.project.id)
  expect(settled).toBeGreaterThan(0n)

  await chooseAction(row, 'Suspend')
  const asked = page.getByRole('dialog', { name: `Suspend ${model}?` })
  await asked.getByText("Projects in other organizations are affected too, but aren't shown to operators.").waitFor()
  await asked.getByRole('button', { name: 'Suspend product' }).click()
  await row.getByText('Suspended').waitFor()
  const refused = await chat(stack, { ...tenant, model })
  expect(await refused.json()).toMatchObject({
    error: { code: 'model_not_found', resolution: expect.stringMatching(/./) as string },
  })
  expect(await stack.wallet(tenant.project.id)).toMatchObject({ settled })
  expect(problems).toEqual([])
})

test('the suspend dialog lists the affected projects and keys', async ({ stack, visit }) => {
  const tenant = await consoleOwner(stack)
  await stack.fixture.run('UPDATE control.users SET platform_operator = true WHERE id = $1', [tenant.owner])
  const { page } = await signedInAt(visit, tenant, `${tenant.start}/operator/products?q="${tenant.model}"`)
  await chooseAction(page, 'Suspend')
  await page.getByRole('dialog').getByRole('listitem').filter({ hasText: '1 active key' }).waitFor()
})
