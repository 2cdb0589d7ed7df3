import { expect } from 'vitest'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, pageTest as test } from '../page-test.fixture.tsx'

const address = `/organizations/${exampleIds.tenant}/budgets`
const [budget] = contractExample('listBudgets').data as [ReturnType<typeof contractExample<'setBudget'>>]

test('budgets show whom they are of, what is spent and what happens beyond them', async ({ api, open }) => {
  const team = { ...budget, id: 'bud_team', kind: 'team', subject: exampleIds.team, hard: false } as const
  api.answer('listBudgets', { data: [budget, { ...team, spentMicro: 50_000_001 }], nextCursor: null })
  const { screen } = await open(address)
  const rowOf = (name: string) => screen.getByRole('row', { name: new RegExp(name) })
  await expect.poll(() => rowOf(budget.subject).query()?.textContent).toContain('$12.40031 of $50.00 per month')
  await expect.element(rowOf(budget.subject).getByText('Calls are refused')).toBeVisible()
  const ofTeam = rowOf(contractExample('listTeams').data[0]!.name)
  await expect.element(ofTeam.getByText('Alert only')).toBeVisible()
  await expect.element(ofTeam.getByText('Reached')).toBeVisible()
})

test('a budget of a tag is set in dollars, and a wrong amount is refused at its field', async ({ api, open }) => {
  const { screen } = await open(address)
  await screen.getByRole('button', { name: 'Set budget' }).click()
  const dialog = screen.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Budget of a' }).click()
  await screen.getByRole('option', { name: 'Tag' }).click()
  await dialog.getByRole('textbox', { name: 'Tag' }).fill('nightly')
  await dialog.getByLabelText('Monthly limit (USD)').fill('ten')
  await dialog.getByRole('button', { name: 'Set budget' }).click()
  await expect.element(dialog.getByText('Enter an amount such as 5 or 0.25.')).toBeVisible()
  expect(api.asked('setBudget')).toEqual([])
  await dialog.getByLabelText('Monthly limit (USD)').fill('12.5')
  await dialog.getByRole('checkbox').click()
  await dialog.getByRole('button', { name: 'Set budget' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
  expect(api.asked('setBudget').map(({ body }) => body)).toEqual([
    { kind: 'tag', subject: 'nightly', limitMicro: 12_500_000, hard: false },
  ])
})

test('a budget that replaces another one says so before it is set', async ({ api, open }) => {
  api.answer('listBudgets', { data: [{ ...budget, kind: 'tag', subject: 'nightly', hard: true }], nextCursor: null })
  const { screen } = await open(address)
  await screen.getByRole('button', { name: 'Set budget' }).click()
  const dialog = screen.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'Budget of a' }).click()
  await screen.getByRole('option', { name: 'Tag' }).click()
  await dialog.getByRole('textbox', { name: 'Tag' }).fill('night')
  await expect.element(dialog.getByRole('button', { name: 'Set budget' })).toBeVisible()
  await dialog.getByRole('textbox', { name: 'Tag' }).fill('nightly')
  await expect.poll(() => dialog.query()?.textContent).toContain('nightly has a budget of $50.00')
  await expect.element(dialog.getByRole('button', { name: 'Replace budget' })).toBeVisible()
  await expect.element(dialog.getByText(/^Keeps the \$12\.40031 counted this month/)).toBeVisible()
})

test('a changed budget keeps what it counted, and warns if the new limit is already reached', async ({ api, open }) => {
  api.answer('listBudgets', { data: [{ ...budget, spentMicro: 48_000_000 }], nextCursor: null })
  const { screen } = await open(address)
  await screen.getByRole('button', { name: /^Actions for/ }).click()
  await screen.getByRole('menuitem', { name: 'Change' }).click()
  const dialog = screen.getByRole('dialog')
  const limit = dialog.getByLabelText('Monthly limit (USD)')
  await expect.element(dialog.getByText(/^Keeps the \$48\.00 counted this month/)).toBeVisible()
  await limit.fill('48.01')
  const refused = dialog.getByText('This limit is already reached: calls are refused until the month ends.')
  const reached = dialog.getByText('This limit is already reached.')
  await expect.element(refused).not.toBeInTheDocument()
  await limit.fill('48')
  await expect.element(refused).toBeVisible()
  await dialog.getByRole('checkbox').click()
  await expect.element(refused).not.toBeInTheDocument()
  await expect.element(reached).toBeVisible()
})
