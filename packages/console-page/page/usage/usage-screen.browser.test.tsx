import { expect } from 'vitest'
import type { UsageReport } from '@gateway/api/console/money'
import { refuse } from '@gateway/api/refusal'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'
import { usageReportOf } from './usage-report.fixture.ts'

const tokens = { promptTokens: 10, completionTokens: 20 }
const percentiles = { latencyP50Ms: 400, firstTokenP50Ms: null, firstTokenP95Ms: null }

/** A report of one day with two models, one of which only failed. */
function reportOf({ from, to }: Record<string, string>): UsageReport {
  return usageReportOf({ from: from!, to: to!, by: 'model', step: 'day', zone: 'UTC' }, [
    {
      time: from!,
      group: 'acme/down',
      calls: 0,
      ...tokens,
      chargedMicro: 0,
      errors: 4,
      ...percentiles,
      latencyP95Ms: null,
    },
    {
      time: from!,
      group: 'acme/swift',
      calls: 3,
      ...tokens,
      chargedMicro: 1_500_000,
      errors: 1,
      ...percentiles,
      latencyP95Ms: 1_234,
    },
  ])
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
  expect(api.asked('readUsage')[0]!.query).toMatchObject({ by: 'user', include: 'latency', top: '6' })
})

test('usage of thousands of keys names the largest, and says where the others are', async ({ api, open }) => {
  const key = contractExample('readKey')
  api.answer('listKeys', { data: [key], nextCursor: null })
  api.answer('readUsage', () => {
    const report = reportOf(api.asked('readUsage').at(-1)!.query)
    // The chart has no line for a group that only the table lists.
    return { ...report, groups: [...report.groups!, { ...report.total, group: key.id }], groupCount: 2_000 }
  })
  const { screen } = await open(`${project}/usage?by=key&metric=errors`)
  await expect.element(screen.getByText(/3 of 2,000 groups, those with the most errors/)).toBeVisible()
  await expect.element(screen.getByRole('list', { name: 'Series' }).getByText('Others')).toBeVisible()
  await expect.element(screen.getByRole('rowheader', { name: key.name })).toBeVisible()
  const csv = screen.getByRole('link', { name: 'CSV' }).query()!.getAttribute('href')!
  expect(csv).not.toContain('top=')
})

const zone = 'Asia/Kolkata'

/** Sets a time zone of the browser whose days divide UTC hours, until the test ends. */
function moveToIndia(onTestFinished: (restore: () => void) => void): void {
  const { resolvedOptions } = Intl.DateTimeFormat.prototype
  onTestFinished(() => void (Intl.DateTimeFormat.prototype.resolvedOptions = resolvedOptions))
  Intl.DateTimeFormat.prototype.resolvedOptions = function inIndia(this: Intl.DateTimeFormat) {
    return { ...resolvedOptions.call(this), timeZone: zone }
  }
}

/** 90 days in India. */
const ninetyDays = 'by=sandbox&from=2026-08-31T18:30:00.000Z&to=2026-11-29T18:30:00.000Z'

test('usage is charted in UTC, for the same dates, if the days of a half-hour zone are archived [usage_archived]', async ({
  api,
  open,
  onTestFinished,
}) => {
  moveToIndia(onTestFinished)
  api.answer('readUsage', () => {
    const { query } = api.asked('readUsage').at(-1)!
    return query['zone'] === 'UTC' ? reportOf(query) : refuse('usage_archived', { zone })
  })
  const { screen } = await open(`${project}/usage?${ninetyDays}`)
  await expect.element(screen.getByText(/per day \(UTC\)/)).toBeVisible()
  await expect.element(screen.getByRole('alert')).not.toBeInTheDocument()
  const [first, second] = api.asked('readUsage').map(({ query }) => query)
  expect(first).toMatchObject({ zone })
  const dates = { from: '2026-09-01T00:00:00.000Z', to: '2026-11-30T00:00:00.000Z' }
  expect(second).toMatchObject({ zone: 'UTC', ...dates })
  const csv = screen.getByRole('link', { name: 'CSV' }).query()!.getAttribute('href')!
  expect(Object.fromEntries(new URLSearchParams(csv.split('?')[1]))).toMatchObject({ zone: 'UTC', ...dates })
})

test('usage says why it is not compared if the period before is archived [usage_archived]', async ({
  api,
  open,
  onTestFinished,
}) => {
  moveToIndia(onTestFinished)
  const [from, to] = ['2026-10-31T18:30:00.000Z', '2026-11-29T18:30:00.000Z']
  api.answer('readUsage', () => {
    const { query } = api.asked('readUsage').at(-1)!
    return query['from'] === from ? { ...reportOf(query), zone } : refuse('usage_archived', { zone })
  })
  const { screen } = await open(`${project}/usage?by=sandbox&from=${from}&to=${to}`)
  await expect.element(screen.getByText(/per day \(Asia\/Kolkata\)/)).toBeVisible()
  await expect.element(screen.getByText(/^No previous period\. Days in Asia\/Kolkata do not start/)).toBeVisible()
})
