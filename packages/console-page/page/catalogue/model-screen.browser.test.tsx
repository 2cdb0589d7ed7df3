import { expect } from 'vitest'
import { exampleIds } from '@gateway/api/example-ids'
import { usageReportOf } from '../usage/usage-report.fixture.ts'
import { pageTest as test, project } from '../page-test.fixture.tsx'

const model = exampleIds.product
const address = `${project}/models/${encodeURIComponent(model)}`

test('the screen of a model shows its price, charges, latency and calls', async ({ api, open }) => {
  const sums = { calls: 3, promptTokens: 10, completionTokens: 20, chargedMicro: 1_500_000, errors: 2 }
  const figures = { latencyP50Ms: 900, latencyP95Ms: 1_800, firstTokenP50Ms: 300, firstTokenP95Ms: 400 }
  api.answer('readUsage', () => {
    const { from, to, step } = api.asked('readUsage').at(-1)!.query as { from: string; to: string; step?: 'day' }
    const time = step && { time: from }
    const row = { ...time, group: model, ...sums, ...figures }
    return usageReportOf({ from, to, by: 'model', ...(step && { step, zone: 'UTC' }) }, [row])
  })
  const { screen } = await open(address)
  const textOf = (name: string) => screen.getByRole('region', { name, exact: true }).query()?.textContent
  await expect.poll(() => textOf('Model')).toContain('per 1M input tokens')
  await expect.poll(() => textOf('Charged in the last 30 days')).toContain('$1.50')
  await expect
    .poll(() => textOf('Calls in the last 30 days'))
    .toMatch(/Errors2.*Latency p50900 ms.*First token p95400 ms/)
  await expect
    .element(screen.getByRole('link', { name: 'All calls' }))
    .toHaveAttribute('href', `${project}/calls?model=${encodeURIComponent(model)}`)
  expect(api.asked('listInvocations').map(({ query }) => query['model'])).toContain(model)
  expect(api.asked('readUsage').map(({ query }) => query['group'])).toEqual([model, model])
  await screen.getByRole('button', { name: 'Estimate cost' }).click()
  await expect.element(screen.getByRole('dialog', { name: /^Cost of/ })).toBeVisible()
})

test('an unknown model leads back to the list', async ({ open }) => {
  const { screen } = await open(`${project}/models/acme%2Fnone`)
  await expect.element(screen.getByRole('heading', { name: 'No model has this ID' })).toBeVisible()
  await screen.getByRole('link', { name: 'All models' }).click()
  await expect.element(screen.getByRole('heading', { name: 'Models', level: 1 })).toBeVisible()
})
