import { expect } from 'vitest'
import { refuse } from '@gateway/api/refusal'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

const once = { headers: { 'x-should-retry': 'false' } }
const statement = contractExample('readStatement')
const spent = { ...statement, chargedMicro: 700_000, days: [{ ...statement.days[0]!, chargedMicro: 700_000 }] }

test('executions in progress are read again after a failed read [unavailable]', async ({ api, open }) => {
  const [execution] = contractExample('listProjectExecutions').data
  api.answer('listProjectExecutions', { data: [{ ...execution!, status: 'Running' }], nextCursor: null })
  const { screen } = await open(project)
  const running = screen.getByRole('region', { name: 'Running now' })
  await expect.element(running).toBeVisible()
  const reads = () =>
    ['Admitted', 'Running'].map(
      (state) => api.asked('listProjectExecutions').filter(({ query }) => query['state'] === state).length,
    )
  const before = reads()
  api.answer('listProjectExecutions', refuse('unavailable', {}, once))
  await expect.poll(() => reads().every((count, state) => count > before[state]!)).toBe(true)
  api.answer('listProjectExecutions', { data: [], nextCursor: null })
  await expect.element(running).not.toBeInTheDocument()
})

test('the runway waits for the wallet', async ({ api, open }) => {
  const wallet = Promise.withResolvers<ReturnType<typeof contractExample<'readWallet'>>>()
  api.answer('readWallet', wallet.promise)
  api.answer('readStatement', spent)
  const { screen } = await open(project)
  const figures = screen.getByRole('region', { name: 'Wallet' })
  await expect.element(figures.getByText('$0.70')).toBeVisible()
  expect(figures.getByText(/days/).elements()).toEqual([])
  wallet.resolve({ ...contractExample('readWallet'), availableMicro: 1_500_000 })
  await expect.element(figures.getByText('15 days')).toBeVisible()
})

for (const [which, isRefused, section] of [
  ['this month', (from: string | undefined) => from === undefined, 'This month by model'],
  ['the last 7 days', (from: string | undefined) => from !== undefined, 'Wallet'],
] as const)
  test(`a statement of ${which} that is refused shows the refusal [unavailable]`, async ({ api, open }) => {
    api.answer('readStatement', () => {
      const from = api.asked('readStatement').at(-1)?.query['from']
      return isRefused(from) ? refuse('unavailable', {}, once) : spent
    })
    const { screen } = await open(project)
    const region = screen.getByRole('region', { name: section })
    await expect.element(region.getByRole('alert').getByText('temporarily unavailable', { exact: false })).toBeVisible()
    expect(screen.getByText('temporarily unavailable', { exact: false }).elements()).toHaveLength(1)
    expect(region.getByText('Loading…').elements()).toEqual([])
  })
