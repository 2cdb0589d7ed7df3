import { expect } from 'vitest'
import { exampleIds } from '@gateway/api/example-ids'
import { usageReportOf } from '../usage/usage-report.fixture.ts'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

const address = `${project}/keys/${exampleIds.key}`
const key = contractExample('readKey')

test('the screen of a key shows its spending, calls and errors, and names its replacement', async ({ api, open }) => {
  const next = { ...key, id: 'key_next', name: 'Weekly summaries' }
  api.answer('listKeys', { data: [key, next], nextCursor: null })
  api.answer('readKey', { ...key, state: 'Rotated', rotatedTo: next.id, rotatedBy: key.id, rotatedAt: key.createdAt })
  api.answer('readUsage', () => {
    const { from, to } = api.asked('readUsage').at(-1)!.query as { from: string; to: string }
    const row = { time: from, group: key.id, calls: 2, promptTokens: 10, completionTokens: 20, chargedMicro: 1_500_000 }
    return usageReportOf({ from, to, by: 'key', step: 'day', zone: 'UTC' }, [{ ...row, errors: 0 }])
  })
  const other = { ...contractExample('listLatestRefusals').data[0]!, key: next.id, requestId: 'req_other' }
  api.answer('listLatestRefusals', { data: [...contractExample('listLatestRefusals').data, other] })
  const { screen } = await open(address)
  await expect.element(screen.getByRole('heading', { name: key.name, level: 1 })).toBeVisible()
  const region = (name: string) => screen.getByRole('region', { name, exact: true })
  const textOf = (name: string) => region(name).query()?.textContent
  await expect.poll(() => textOf('Key')).toContain('$0.00125 of $20.00 per month')
  await expect
    .element(region('Key').getByRole('link', { name: next.name }))
    .toHaveAttribute('href', `${project}/keys/key_next`)
  await expect.poll(() => textOf('Errors')).toContain('req_example')
  expect(textOf('Errors')).not.toContain('req_other')
  await expect
    .element(screen.getByRole('link', { name: 'All calls' }))
    .toHaveAttribute('href', `${project}/calls?key=${key.id}`)
  await expect.poll(() => textOf('Charged in the last 30 days')).toContain('$1.50')
  expect(api.asked('listInvocations').map(({ query }) => query['key'])).toContain(key.id)
  expect(api.asked('readUsage').map(({ query }) => query['group'])).toEqual([key.id])
})

test('a key is paused and resumed on its screen, and does not offer to rotate a paused one', async ({ api, open }) => {
  const { screen } = await open(address)
  const act = async (name: string) => {
    await screen.getByRole('button', { name, exact: true }).click()
    await screen
      .getByRole('dialog')
      .getByRole('button', { name: `${name} key` })
      .click()
  }
  const paused = { ...key, state: 'Paused', pausedAt: key.createdAt } as const
  api.answer('pauseKey', () => {
    api.answer('readKey', paused)
    return paused
  })
  api.answer('resumeKey', () => {
    api.answer('readKey', key)
    return key
  })
  await act('Pause')
  await expect.element(screen.getByText(/^Paused .* Calls are refused/)).toBeVisible()
  await expect.element(screen.getByRole('button', { name: 'Rotate' })).not.toBeInTheDocument()
  await act('Resume')
  await expect.element(screen.getByText(/^Paused .* Calls are refused/)).not.toBeInTheDocument()
  await expect.element(screen.getByRole('button', { name: 'Rotate' })).toBeVisible()
})

test('a rotated key in its grace period is listed with its end, and can be revoked', async ({ api, open }) => {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString()
  const rotated = { ...key, state: 'Rotated', rotatedTo: 'key_next', graceUntil: inAnHour } as const
  const ended = { ...rotated, id: 'key_ended', name: 'Past its grace', graceUntil: key.createdAt } as const
  api.answer('listKeys', { data: [rotated, ended], nextCursor: null })
  api.answer('readKey', rotated)
  api.answer('revokeKey', () => {
    const revoked = { ...rotated, state: 'Revoked' } as const
    api.answer('readKey', revoked)
    return revoked
  })
  const { screen } = await open(`${project}/keys`)
  await expect.element(screen.getByText(/^Old secret works until /)).toBeVisible()
  await expect.element(screen.getByRole('link', { name: ended.name })).not.toBeInTheDocument()
  await screen.getByRole('link', { name: key.name }).click()
  await expect.element(screen.getByText(/^Old secret works until /)).toBeVisible()
  await screen.getByRole('button', { name: 'Revoke', exact: true }).click()
  await screen.getByRole('button', { name: 'Revoke key' }).click()
  await expect.element(screen.getByText(/^Old secret works until /)).not.toBeInTheDocument()
})

test.for([
  ['an expired key', { state: 'Expired', expiresAt: key.createdAt }],
  ['a key past its grace period', { state: 'Rotated', rotatedTo: 'key_next', graceUntil: key.createdAt }],
] as const)('%s can only be renamed and revoked', async ([, ended], { api, open }) => {
  api.answer('readKey', { ...key, ...ended })
  const { screen } = await open(address)
  await expect.element(screen.getByRole('button', { name: 'Revoke', exact: true })).toBeVisible()
  await expect.element(screen.getByRole('button', { name: /^(Test|Pause|Resume|Rotate)$/ })).not.toBeInTheDocument()
})

test('a key is renamed on its screen', async ({ api, open }) => {
  const { screen } = await open(address)
  api.answer('renameKey', ({ name }) => {
    api.answer('readKey', { ...key, name })
    return { ...key, name }
  })
  await screen.getByRole('button', { name: 'Rename' }).click()
  await screen.getByLabelText('Name').fill('Website')
  await screen.getByRole('button', { name: 'Rename key' }).click()
  await expect.element(screen.getByRole('heading', { name: 'Website', level: 1 })).toBeVisible()
})

test('a narrower copy starts with the access, limits and expiry of its key', async ({ api, open }) => {
  const inTenDays = new Date(Date.now() + 10.5 * 86_400_000).toISOString()
  api.answer('readKey', { ...key, policy: 'listed', resources: [exampleIds.sandbox, 'sbx-…'], expiresAt: inTenDays })
  const { screen } = await open(address)
  await screen.getByRole('button', { name: 'Create a narrower copy' }).click()
  await screen.getByLabelText('Spending limit (USD)').fill('5')
  await screen.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await expect.element(screen.getByRole('dialog', { name: /^Secret for/ })).toBeVisible()
  expect(api.asked('createKey').map(({ body }) => body)).toEqual([
    {
      project: exampleIds.project,
      name: key.name,
      policy: 'listed',
      resources: [exampleIds.sandbox],
      limit: { micro: 5_000_000, reset: 'monthly' },
      tag: key.tag,
      rates: key.rates,
      expiresInDays: 10,
    },
  ])
})

test('a key of another project has no screen in this one', async ({ api, open }) => {
  api.answer('readKey', { ...key, project: 'prj_other' })
  const { screen } = await open(address)
  await expect.element(screen.getByRole('heading', { name: 'Page not found' })).toBeVisible()
})

test('the outcome of a test goes once it is asked for another call', async ({ open }) => {
  const { screen } = await open(address)
  await screen.getByRole('button', { name: 'Test', exact: true }).click()
  const dialog = screen.getByRole('dialog', { name: `Test ${key.name}` })
  await dialog.getByRole('button', { name: 'Test' }).click()
  await expect.element(dialog.getByRole('status')).toBeVisible()
  await dialog.getByLabelText('Max output tokens').fill('100000')
  await expect.element(dialog.getByRole('status')).not.toBeInTheDocument()
})
