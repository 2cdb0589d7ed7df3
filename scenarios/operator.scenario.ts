import { expect } from 'vitest'
import { consoleTest as test } from './src/console/console-test.ts'
import { consoleOwner, signIn } from './src/console/people.ts'

// The catalogue, and what operators do, in a browser on the whole stack.

test('what a project may call and could ask for is found, compared and reckoned to the micro-USD', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack)
  const other = await stack.fixture.publishProduct({ promptPico: 150_001n, completionPico: 600_000n })
  const { page, problems } = await visit()
  await page.goto(`${tenant.home}/models`)
  await signIn(page, tenant)
  const models = page.getByRole('table', { name: 'Models', exact: true })
  const mine = models.getByRole('row').filter({ hasText: tenant.model })
  await mine.getByText('May be called').waitFor()
  await mine.getByText('$1', { exact: true }).first().waitFor()
  const tryIt = new URL((await mine.getByRole('link', { name: /^Try/ }).getAttribute('href'))!, tenant.start)
  expect(tryIt.href).toBe(`${tenant.home}/playground?model=${encodeURIComponent(tenant.model)}`)
  const askable = models.getByRole('row').filter({ hasText: other })
  await askable.getByText('An Admin of your organization can assign it.').waitFor()
  await askable.getByText('$0.150001', { exact: true }).waitFor()

  await mine.getByRole('button', { name: /^Compare/ }).click()
  await askable.getByRole('button', { name: /^Compare/ }).click()
  const comparison = page.getByRole('table', { name: 'Comparison of models' })
  await comparison.getByRole('columnheader', { name: other }).waitFor()

  await page.getByLabel('Search models').fill(other)
  await page.getByLabel('Use', { exact: true }).selectOption('askable')
  await mine.waitFor({ state: 'detached' })
  const search = new URL(page.url()).searchParams
  expect([search.get('q'), search.get('use'), search.get('compare')]).toEqual([
    other,
    'askable',
    JSON.stringify([tenant.model, other]),
  ])
  await page.reload()
  await comparison.getByRole('columnheader', { name: tenant.model }).waitFor()
  await askable.getByRole('button', { name: /^Reckon/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Tokens in, of a call').fill('333')
  await dialog.getByLabel('Tokens out, of a call').fill('7')
  await dialog.getByLabel('Calls a day').fill('1000')
  // 333 × 150001 + 7 × 600000 pico-USD are 54.150333 micro-USD, so 55 for each call.
  await dialog.getByText('$0.000055', { exact: true }).waitFor()
  await dialog.getByText('$1.65', { exact: true }).waitFor()
  expect(problems).toEqual([])
})
