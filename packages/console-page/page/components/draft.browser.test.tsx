import { expect } from 'vitest'
import { userEvent } from 'vitest/browser'
import { contractExample, pageTest as test, project, showTabAgain } from '../page-test.fixture.tsx'

// A form keeps what was typed while the page reads again what the form shows.

test('the settings form keeps typed text, shows new saved values elsewhere, and can still be saved', async ({
  api,
  open,
}) => {
  const [before] = contractExample('listProjects').data
  const saved = { ...before!, assetRetentionDays: 30 }
  api.answer('listProjects', { data: [saved], nextCursor: null })
  const { screen } = await open(`${project}/settings`)
  const days = screen.getByLabelText('Delete assets after (days)')
  const requests = screen.getByRole('region', { name: 'Rate limits' }).getByLabelText(/Requests per minute/)
  await days.fill('45')
  api.answer('listProjects', {
    data: [{ ...saved, assetRetentionDays: 60, rates: { ...saved.rates, requestsPerMinute: 77 } }],
    nextCursor: null,
  })
  showTabAgain()
  await expect.element(requests).toHaveValue(77)
  await expect.element(days).toHaveValue(45)
  await expect
    .element(screen.getByRole('region', { name: 'Assets' }).getByRole('button', { name: 'Save' }))
    .toBeEnabled()
})

test('the settings form keeps what is typed while the last save is still being read again', async ({ api, open }) => {
  const [before] = contractExample('listProjects').data
  const listed = (assetRetentionDays: number | null) => ({
    data: [{ ...before!, assetRetentionDays }],
    nextCursor: null,
  })
  api.answer('listProjects', listed(30))
  const { screen } = await open(`${project}/settings`)
  const days = screen.getByLabelText('Delete assets after (days)')
  const save = screen.getByRole('region', { name: 'Assets' }).getByRole('button', { name: 'Save' })
  await expect.element(days).toHaveValue(30)
  const again = Promise.withResolvers<ReturnType<typeof listed>>()
  api.answer('listProjects', again.promise)
  await days.fill('90')
  await save.click()
  await expect.poll(() => api.asked('changeProject').length).toBe(1)
  await days.fill('120')
  again.resolve(listed(90))
  await expect.element(save).toBeEnabled()
  await expect.element(days).toHaveValue(120)
  await save.click()
  await expect.poll(() => api.asked('changeProject').at(-1)?.body).toEqual({ assetRetentionDays: 120 })
})

test('the form of a new key keeps typed text', async ({ api, open }) => {
  const { screen } = await open(`${project}/keys?create=true`)
  const form = screen.getByRole('dialog', { name: 'Create key' })
  await form.getByLabelText('Name', { exact: true }).fill('website')
  await form.getByLabelText('Spending limit (USD)').fill('2.5')
  const reads = api.asked('listKeys').length
  const [key] = contractExample('listKeys').data
  api.answer('listKeys', { data: [{ ...key!, name: 'made meanwhile' }], nextCursor: null })
  showTabAgain()
  await expect.poll(() => api.asked('listKeys').length).toBeGreaterThan(reads)
  await expect.element(screen.getByText('made meanwhile').first()).toBeInTheDocument()
  await expect.element(form.getByLabelText('Name', { exact: true })).toHaveValue('website')
  await expect.element(form.getByLabelText('Spending limit (USD)')).toHaveValue('2.5')
})

test('the form of alert rules keeps typed text', async ({ api, open }) => {
  const rules = contractExample('readThresholds')
  api.answer('readThresholds', { ...rules, daysLeft: 7 })
  const { screen } = await open(`${project}/notices`)
  await screen.getByRole('button', { name: 'Edit alert rules' }).click()
  const form = screen.getByRole('dialog', { name: 'Edit alert rules' })
  await form.getByLabelText('Runway below (days)').fill('12')
  await form.getByRole('textbox', { name: 'Balance below (USD)' }).fill('3.5')
  const reads = api.asked('readThresholds').length
  api.answer('readThresholds', { belowMicro: [9_000_000], keyPercents: [60], daysLeft: 21 })
  showTabAgain()
  await expect.poll(() => api.asked('readThresholds').length).toBeGreaterThan(reads)
  await expect.element(screen.getByText(/21 days/)).toBeInTheDocument()
  await expect.element(form.getByLabelText('Runway below (days)')).toHaveValue(12)
  await expect.element(form.getByRole('textbox', { name: 'Balance below (USD)' })).toHaveValue('3.5')
  await form.getByRole('button', { name: 'Save alert rules' }).click()
  await expect
    .poll(() => api.asked('setThresholds').at(-1)?.body)
    .toEqual({ belowMicro: [9_000_000, 3_500_000], keyPercents: [60], daysLeft: 12 })
})

test('the form of prompt capture keeps what another owner hides meanwhile', async ({ api, open }) => {
  const [before] = contractExample('listProjects').data
  const capture = { retentionDays: 7, hide: ['email' as const], patterns: ['CUST-[0-9]+'] }
  const answer = (more: Partial<typeof capture>) =>
    api.answer('listProjects', { data: [{ ...before!, capture: { ...capture, ...more } }], nextCursor: null })
  answer({})
  const { screen } = await open(`${project}/settings`)
  await screen.getByRole('region', { name: 'Prompt capture' }).getByRole('button', { name: 'Change' }).click()
  const form = screen.getByRole('dialog', { name: 'Change capture' })
  await form.getByLabelText('Delete after (days)').fill('14')
  await form.getByRole('checkbox', { name: 'Phone numbers' }).click()
  const patterns = ['CUST-[0-9]+', 'INV-[0-9]+']
  answer({ patterns })
  showTabAgain()
  await expect.element(form.getByLabelText('Own patterns')).toHaveValue(patterns.join('\n'))
  await form.getByRole('button', { name: 'Save' }).click()
  await expect
    .poll(() => api.asked('changeProject').at(-1)?.body)
    .toEqual({ capture: { retentionDays: 14, hide: ['email', 'phone'], patterns } })
})

test('a choice that was taken back shows what another owner saves meanwhile', async ({ api, open }) => {
  const [before] = contractExample('listProjects').data
  const answer = (retentionDays: number, ...hide: ('email' | 'phone' | 'iban')[]) =>
    api.answer('listProjects', {
      data: [{ ...before!, capture: { retentionDays, hide, patterns: [] } }],
      nextCursor: null,
    })
  answer(7, 'email', 'phone')
  const { screen } = await open(`${project}/settings`)
  await screen.getByRole('region', { name: 'Prompt capture' }).getByRole('button', { name: 'Change' }).click()
  const form = screen.getByRole('dialog', { name: 'Change capture' })
  const days = form.getByLabelText('Delete after (days)')
  const email = form.getByRole('checkbox', { name: 'Email addresses' })
  await email.click()
  await email.click()
  await days.fill('14')
  await days.fill('7')
  answer(21, 'email', 'phone', 'iban')
  showTabAgain()
  await expect.element(form.getByRole('checkbox', { name: /IBAN/ })).toBeChecked()
  await expect.element(days).toHaveValue(21)
})

test('saving the alert rules or prompt capture keeps what another owner saved since they were read', async ({
  api,
  open,
}) => {
  const rules = { belowMicro: [5_000_000], keyPercents: [80], daysLeft: 7 }
  api.answer('readThresholds', rules)
  const { screen, goTo } = await open(`${project}/notices`)
  await screen.getByRole('button', { name: 'Edit alert rules' }).click()
  await screen.getByLabelText('Runway below (days)').fill('12')
  api.answer('readThresholds', { ...rules, belowMicro: [9_000_000], daysLeft: 21 })
  await screen.getByRole('button', { name: 'Save alert rules' }).click()
  await expect
    .poll(() => api.asked('setThresholds').at(-1)?.body)
    .toEqual({ belowMicro: [9_000_000], keyPercents: [80], daysLeft: 12 })

  const [before] = contractExample('listProjects').data
  const capture = { retentionDays: 7, hide: ['phone' as const, 'email' as const], patterns: ['CUST-[0-9]+'] }
  const answer = (more: object) =>
    api.answer('listProjects', { data: [{ ...before!, capture: { ...capture, ...more } }], nextCursor: null })
  answer({})
  await goTo(`${project}/settings`)
  await screen.getByRole('region', { name: 'Prompt capture' }).getByRole('button', { name: 'Change' }).click()
  const form = screen.getByRole('dialog', { name: 'Change capture' })
  await form.getByLabelText('Delete after (days)').fill('14')
  const later = { hide: ['iban' as const], patterns: [] }
  answer(later)
  await form.getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => api.asked('changeProject').at(-1)?.body).toEqual({ capture: { ...later, retentionDays: 14 } })
})

test('saving prompt capture asks again after another owner turned it off or on', async ({ api, open }) => {
  const [before] = contractExample('listProjects').data
  const capture = { retentionDays: 7, hide: ['phone' as const], patterns: ['CUST-[0-9]+'] }
  const answer = (stored: typeof capture | null) =>
    api.answer('listProjects', { data: [{ ...before!, capture: stored }], nextCursor: null })
  answer(capture)
  const { screen } = await open(`${project}/settings`)
  await screen.getByRole('region', { name: 'Prompt capture' }).getByRole('button', { name: 'Change' }).click()
  const change = screen.getByRole('dialog', { name: 'Change capture' })
  await change.getByLabelText('Delete after (days)').fill('14')
  answer(null)
  await change.getByRole('button', { name: 'Save' }).click()
  const turnOn = screen.getByRole('dialog', { name: 'Turn on capture' })
  await expect.element(turnOn.getByText(/Another user changed this/)).toBeVisible()

  answer(capture)
  await turnOn.getByRole('button', { name: 'Turn on capture' }).click()
  await expect.element(change.getByText(/Another user changed this/)).toBeVisible()
  await expect.element(change.getByLabelText('Own patterns')).toHaveValue('CUST-[0-9]+')
  expect(api.asked('changeProject')).toEqual([])
  await change.getByRole('button', { name: 'Save' }).click()
  await expect
    .poll(() => api.asked('changeProject').map(({ body }) => body))
    .toEqual([{ capture: { ...capture, retentionDays: 14 } }])
})

test('saving the alert rules takes a typed amount along, and refuses one it cannot read', async ({ api, open }) => {
  api.answer('readThresholds', { ...contractExample('readThresholds'), belowMicro: [], keyPercents: [] })
  const { screen } = await open(`${project}/notices`)
  await screen.getByRole('button', { name: 'Edit alert rules' }).click()
  const form = screen.getByRole('dialog', { name: 'Edit alert rules' })
  const save = form.getByRole('button', { name: 'Save alert rules' })
  const balance = form.getByRole('textbox', { name: 'Balance below (USD)' })
  await balance.fill('five')
  await save.click()
  await expect.element(form.getByText('Enter an amount above zero, such as 5 or 0.50.')).toBeVisible()
  await expect.element(balance).toHaveFocus()
  expect(api.asked('setThresholds')).toEqual([])
  await balance.fill('5')
  await save.click()
  await expect.element(form).not.toBeInTheDocument()
  expect(api.asked('setThresholds').at(-1)?.body).toMatchObject({ belowMicro: [5_000_000], keyPercents: [] })
})

test('a rotation setting that was saved shows what another owner saves later', async ({ api, open }) => {
  const [before] = contractExample('listProjects').data
  const answer = (keySelfRotation: boolean) =>
    api.answer('listProjects', { data: [{ ...before!, keySelfRotation }], nextCursor: null })
  answer(false)
  const { screen } = await open(`${project}/settings`)
  const box = screen.getByRole('checkbox', { name: 'Keys can rotate themselves' })
  await box.click()
  answer(true)
  await screen.getByRole('region', { name: 'Key rotation' }).getByRole('button', { name: 'Save' }).click()
  await expect.poll(() => api.asked('changeProject').length).toBe(1)
  await expect.element(screen.getByText('Key rotation saved.').first()).toBeVisible()
  const reads = api.asked('listProjects').length
  answer(false)
  showTabAgain()
  await expect.poll(() => api.asked('listProjects').length).toBeGreaterThan(reads)
  await expect.element(box).not.toBeChecked()
})

test('the form of a new key keeps its products while all are chosen, and its text when a list closes', async ({
  api,
  open,
}) => {
  const [product] = contractExample('listProducts').data
  api.answer('listProducts', { data: [{ ...product!, state: 'published' }], nextCursor: null })
  const { screen } = await open(`${project}/keys?create=true`)
  const form = screen.getByRole('dialog', { name: 'Create key' })
  await form.getByLabelText('Name', { exact: true }).fill('website')
  await form.getByLabelText('Selected products').click()
  const box = form.getByRole('checkbox', { name: new RegExp(product!.name) })
  await box.click()
  await form.getByLabelText(/^All products/).click()
  await form.getByLabelText('Selected products').click()
  await expect.element(box).toBeChecked()
  await form.getByRole('combobox', { name: 'Limit period' }).click()
  await expect.element(screen.getByRole('listbox')).toBeVisible()
  await userEvent.keyboard('{Escape}')
  await expect.element(screen.getByRole('listbox')).not.toBeInTheDocument()
  await form.getByRole('button', { name: 'Create key' }).click()
  await expect
    .poll(() => api.asked('createKey').at(-1)?.body)
    .toMatchObject({ name: 'website', resources: [product!.id] })
})
