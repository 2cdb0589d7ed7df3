import { expect } from 'vitest'
import { contractExample, pageTest as test, project, showTabAgain } from '../page-test.fixture.tsx'

const [example] = contractExample('listProjectExecutions').data
const list = (...rows: object[]) => ({ data: rows.map((row) => ({ ...example!, ...row })), nextCursor: null })
const running = { status: 'Running', completedAt: null }
const first = { ...running, id: 'exe_1', revision: 41 }
const second = { ...running, id: 'exe_2', revision: 42 }

test('the list can be refreshed during a poll, and the button keeps the focus', async ({ api, open }) => {
  api.answer('listProjectExecutions', list(first))
  const { screen } = await open(`${project}/executions`)
  await expect.element(screen.getByRole('cell', { name: '41' })).toBeVisible()
  api.answer('listProjectExecutions', new Promise(() => {}))
  const reads = () => api.asked('listProjectExecutions').length
  await expect.poll(reads).toBeGreaterThan(reads())
  const refreshed = Promise.withResolvers<ReturnType<typeof list>>()
  api.answer('listProjectExecutions', refreshed.promise)
  await screen.getByRole('button', { name: 'Refresh', exact: true }).click()
  const busy = screen.getByRole('button', { name: 'Refreshing…' })
  await expect.element(busy).toHaveAttribute('aria-disabled', 'true')
  await expect.element(busy).toHaveFocus()
  refreshed.resolve(list(second, first))
  await expect.element(screen.getByRole('cell', { name: '42' })).toBeVisible()
  const refresh = screen.getByRole('button', { name: 'Refresh', exact: true })
  await expect.element(refresh).toHaveAttribute('aria-disabled', 'false')
  await expect.element(refresh).toHaveFocus()
})

test('an execution appears in a list that has become empty', async ({ api, open }) => {
  api.answer('listProjectExecutions', list(first))
  const { screen } = await open(`${project}/executions?state=Running`)
  await expect.element(screen.getByRole('cell', { name: '41' })).toBeVisible()
  api.answer('listProjectExecutions', list())
  showTabAgain()
  await expect.element(screen.getByRole('heading', { name: 'No matching executions' })).toBeVisible()
  const reads = api.asked('listProjectExecutions').length
  api.answer('listProjectExecutions', list(second))
  showTabAgain()
  await expect.element(screen.getByRole('cell', { name: '42' })).toBeVisible()
  expect(api.asked('listProjectExecutions')[reads]?.query).not.toHaveProperty('to')
})
