import { expect } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { choose, pageTest as test, project } from '../page-test.fixture.tsx'

test('a filter is kept in the address, asked of the API, cleared from both, and undone by Back', async ({
  api,
  open,
}) => {
  api.answer('listInvocations', { data: [], nextCursor: null })
  const { screen, address, goBack } = await open(`${project}/calls?since=day`)
  await choose(screen.getByRole('combobox', { name: 'State' }), 'Released')
  await expect.poll(() => address().search).toEqual({ since: 'day', state: 'Released' })
  await expect.poll(() => api.asked('listInvocations').at(-1)?.query).toMatchObject({ state: 'Released' })
  await expect.element(screen.getByText('No matching calls')).toBeVisible()
  await screen.getByRole('button', { name: 'Remove filter state: Released' }).click()
  await expect.poll(() => address().search).toEqual({ since: 'day' })
  await expect.poll(() => api.asked('listInvocations').at(-1)?.query).not.toHaveProperty('state')
  goBack()
  await expect.poll(() => address().search).toEqual({ since: 'day', state: 'Released' })
  await expect.element(screen.getByRole('button', { name: 'Remove filter state: Released' })).toBeVisible()
})

test('an address with filters opens with them', async ({ api, open }) => {
  const { screen } = await open(`${project}/calls?state=Settled`)
  await expect.element(screen.getByRole('button', { name: /Remove filter state/ })).toBeVisible()
  await expect.poll(() => api.asked('listInvocations').at(-1)?.query).toMatchObject({ state: 'Settled' })
})

test('an unknown parameter of the address is dropped, and not asked of the API', async ({ api, open }) => {
  api.answer('listInvocations', { data: [], nextCursor: null })
  const { screen } = await open(`${project}/calls?state=Settled&color=red`)
  await expect.element(screen.getByText('No matching calls')).toBeVisible()
  const queries = api.asked('listInvocations').map(({ query }) => Object.keys(query).toSorted())
  expect(new Set(queries.flat())).toEqual(new Set(['include', 'limit', 'state']))
})

test('choosing a filter puts the focus on the button that clears it, and clearing it on its select', async ({
  api,
  open,
}) => {
  api.answer('listInvocations', { data: [], nextCursor: null })
  const { screen } = await open(`${project}/calls`)
  const state = screen.getByRole('combobox', { name: 'State' })
  await expect.element(state).toBeVisible()
  state.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(page.getByRole('option', { name: 'Released' })).toBeVisible()
  await userEvent.keyboard('r{Enter}')
  const clear = screen.getByRole('button', { name: 'Remove filter state: Released' })
  await expect.element(clear).toHaveFocus()
  await userEvent.keyboard('{Enter}')
  await expect.element(state).toHaveFocus()
})

test('clearing a filter that cannot be chosen puts the focus on the first of the others', async ({ api, open }) => {
  api.answer('listInvocations', { data: [], nextCursor: null })
  const { screen } = await open(`${project}/calls?execution=exe_1`)
  const clear = screen.getByRole('button', { name: /^Remove filter execution/ })
  await expect.element(clear).toBeVisible()
  clear.element().focus()
  await userEvent.keyboard('{Enter}')
  await expect.element(screen.getByRole('combobox', { name: 'Key' })).toHaveFocus()
})
