import { expect } from 'vitest'
import type { ProviderHealth } from '@gateway/api/console/provider-health'
import { choose, contractExample, pageTest as test } from '../page-test.fixture.tsx'

const me = { ...contractExample('readMe'), platformOperator: true }
const health: ProviderHealth = {
  provider: 'first',
  kind: 'anthropic',
  calls: 200,
  failed: 50,
  rejected: 0,
  fallbacks: 40,
  p50Ms: 410,
  p95Ms: 1_900,
  processes: [
    {
      service: 'gateway',
      startedAt: '2026-11-20T08:00:00.000Z',
      credential: 'file',
      credentialChangedAt: '2026-11-01T08:00:00.000Z',
      circuit: 'open',
      circuitSince: '2026-11-20T09:00:00.000Z',
    },
  ],
  deployments: [],
  tests: [],
  steps: [{ at: '2026-11-20T08:30:00.000Z', calls: 200, failed: 50, rejected: 0 }],
  failures: [
    {
      at: '2026-11-20T09:12:31.250Z',
      model: 'm-1',
      product: 'acme/swift',
      kind: 'refused',
      status: 503,
      code: null,
      call: { tenant: 'ten_1', project: 'prj_1', invocation: 'inv_1' },
    },
    {
      at: '2026-11-20T09:10:00Z',
      model: 'm-1',
      product: 'acme/swift',
      kind: 'timeout',
      status: null,
      code: null,
      call: null,
    },
  ],
}
const report = { ...contractExample('listProviders'), data: [health] }

test('an operator sees the health of a provider, and opens its failures and processes', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('listProviders', report)
  const { screen, address } = await open('/operator/providers')
  const row = screen.getByRole('row', { name: /first/ })
  await expect.element(row.getByText('Circuit open in 1 of 1 process')).toBeVisible()
  await expect.element(row.getByRole('cell', { name: '25%' })).toBeVisible()
  await choose(screen.getByRole('combobox', { name: 'Time' }), 'Last 7 days')
  await expect.poll(() => address().search).toEqual({ range: 'week' })
  await expect.poll(() => api.asked('listProviders').at(-1)?.query).toEqual({ range: 'week' })

  await row.getByRole('link', { name: 'first' }).click()
  await expect.poll(() => address().search).toEqual({ range: 'week' })
  const failures = screen.getByRole('region', { name: 'Most recent failures' })
  await expect.element(failures.getByText('Refused: 503')).toBeVisible()
  await expect.element(failures.getByRole('link', { name: 'inv_1' })).toBeVisible()
  await expect.element(failures.getByText('Not shared with you')).toBeVisible()
  const processes = screen.getByRole('region', { name: 'Processes' })
  await expect.element(processes.getByRole('cell', { name: /^File ?changed .* read / })).toBeVisible()
})

test('a user without the operator role sees an error, and nothing is requested [not_permitted]', async ({
  api,
  open,
}) => {
  const { screen } = await open('/operator/providers')
  await expect.element(screen.getByRole('alert')).toBeVisible()
  expect(api.asked('listProviders')).toEqual([])
})

test('an operator tests a provider, and sees how the calls ended', async ({ api, open }) => {
  api.answer('readMe', me)
  const asked = contractExample('testProvider')
  const deployment = { ...contractExample('listProviders').data[0]!.deployments[0]!, product: 'acme/sage' }
  const failure = { kind: 'refused', status: 401, code: 'invalid_api_key' }
  const ended = { ...asked, service: 'gateway' as const, latencyMs: 321 }
  const tests = [
    { ...ended, id: 'tst_2', state: 'succeeded' as const },
    { ...ended, id: 'tst_1', state: 'failed' as const, failure },
  ]
  const withTests = { ...health, deployments: [deployment] }
  api.answer('listProviders', { ...report, data: [withTests] })
  const { screen } = await open('/operator/providers/first')
  const region = screen.getByRole('region', { name: 'Test calls' })
  api.answer('listProviders', { ...report, data: [{ ...withTests, tests }] })
  await region.getByRole('button', { name: 'Test' }).click()
  expect(api.asked('testProvider').at(-1)?.body).toEqual({ provider: 'first', product: 'acme/sage' })
  await expect.element(region.getByText('Succeeded')).toBeVisible()
  await expect.element(region.getByText('Refused: 401 invalid_api_key')).toBeVisible()
  await expect.element(region.getByText('321 ms').first()).toBeVisible()
})
