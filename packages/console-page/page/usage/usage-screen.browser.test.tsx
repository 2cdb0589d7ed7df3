import { expect } from 'vitest'
import type { LatencyFigures, UsageReport } from '@gateway/api/console/money'
import { pageTest as test, project } from '../page-test.fixture.tsx'

const figures = (latencyP95Ms: number | null, errors: number): LatencyFigures => ({
  errors,
  latencyP50Ms: 400,
  latencyP95Ms,
  firstTokenP50Ms: null,
  firstTokenP95Ms: null,
})

/** A report of one day with two models, one of which only failed. */
function reportOf({ from, to }: Record<string, string>): UsageReport {
  const row = { time: from!, group: 'acme/swift', calls: 3, promptTokens: 10, completionTokens: 20 }
  const groups = [
    { group: 'acme/swift', ...figures(1_234, 1) },
    { group: 'acme/down', ...figures(null, 4) },
  ]
  return {
    from: from!,
    to: to!,
    by: 'model',
    step: 'day',
    zone: 'UTC',
    data: [{ ...row, chargedMicro: 1_500_000 }],
    totalMicro: 1_500_000,
    latency: {
      total: figures(1_234, 5),
      groups,
      steps: [{ time: from!, ...figures(1_234, 5) }],
      cells: groups.map((each) => ({ time: from!, ...each })),
    },
  }
}

test('usage is charted by latency and errors as well, with the figures in the table', async ({ api, open }) => {
  api.answer('readUsage', () => reportOf(api.asked('readUsage').at(-1)!.query))
  const { screen } = await open(`${project}/usage`)
  const metric = (name: string) =>
    screen.getByRole('navigation', { name: 'Metric' }).getByRole('link', { name, exact: false })
  await expect.poll(() => metric('Latency p95').query()?.textContent).toMatch(/1\.2\ss$/)
  await expect.poll(() => metric('First token p50').query()?.textContent).toMatch(/–$/)
  await expect.poll(() => metric('Errors').query()?.textContent).toMatch(/5$/)

  await metric('Latency p95').click()
  const chart = screen.getByRole('slider')
  await expect.element(chart).toHaveAccessibleName('Latency p95 per day')
  const table = screen.getByRole('table', { name: 'Usage by group' })
  await expect
    .poll(() => table.getByRole('row', { name: /acme\/swift/ }).query()?.textContent)
    .toMatch(/31.*25\.0\s%.*400\sms.*1\.2\ss/)
  await expect.poll(() => table.getByRole('row', { name: /acme\/down/ }).query()?.textContent).toMatch(/100\.0\s%/)

  await metric('Errors').click()
  await expect.element(chart).toHaveAccessibleName('Errors per day')
  await expect
    .poll(() => screen.getByRole('link', { name: 'CSV' }).query()?.getAttribute('href'))
    .toContain('include=latency')
})

test('usage can be grouped by the user who created a key', async ({ api, open }) => {
  api.answer('readUsage', () => reportOf(api.asked('readUsage').at(-1)!.query))
  const { screen } = await open(`${project}/usage?by=user`)
  await expect.element(screen.getByRole('columnheader', { name: 'User' })).toBeVisible()
  expect(api.asked('readUsage')[0]!.query).toMatchObject({ by: 'user', include: 'latency' })
})
