import { expect } from 'vitest'
import { userEvent } from 'vitest/browser'
import { exampleIds } from '@gateway/api/example-ids'
import { Refusal } from '@gateway/api/refusal'
import { choose, contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

const webhook = contractExample('readWebhook')
const byEmail = { ...webhook, id: 'eml_1', kind: 'email', url: null, user: null } as const
const inSlack = { ...webhook, kind: 'slack', url: 'https://hooks.slack.com' } as const

test('alerts are sent by email to the Project Owners, or to a chosen user', async ({ api, open }) => {
  const { screen } = await open(`${project}/notices`)
  const { name } = contractExample('listGrants').data[0]!
  for (const recipient of [null, name]) {
    api.answer('createWebhook', { webhook: byEmail, secret: null })
    await screen.getByRole('button', { name: 'Add destination' }).click()
    const form = screen.getByRole('dialog', { name: 'Add destination' })
    await choose(form.getByRole('combobox', { name: 'Type' }), 'Email')
    if (recipient !== null) await choose(form.getByRole('combobox', { name: 'Recipient' }), recipient)
    await form.getByRole('button', { name: 'Add destination' }).click()
    await expect.element(form).not.toBeInTheDocument()
  }
  expect(api.asked('createWebhook').map(({ body }) => body)).toEqual([
    { kind: 'email', user: null },
    { kind: 'email', user: exampleIds.user },
  ])
})

test('a destination in Slack shows no secret, and a refusal keeps its address [unavailable]', async ({ api, open }) => {
  const { screen } = await open(`${project}/notices`)
  await screen.getByRole('button', { name: 'Add destination' }).click()
  const form = screen.getByRole('dialog', { name: 'Add destination' })
  await choose(form.getByRole('combobox', { name: 'Type' }), 'Slack')
  await form.getByLabelText('Endpoint URL').fill('https://hooks.slack.com/services/T0')
  api.answer('createWebhook', new Refusal('unavailable', 'Not now.', 'Try later.'))
  await form.getByRole('button', { name: 'Add destination' }).click()
  await expect.element(form.getByRole('alert').getByText('Not now.')).toBeVisible()
  api.answer('createWebhook', { webhook: inSlack, secret: null })
  await form.getByRole('button', { name: 'Add destination' }).click()
  await expect.element(form).not.toBeInTheDocument()
  const asked = { kind: 'slack', url: 'https://hooks.slack.com/services/T0' }
  expect(api.asked('createWebhook').map(({ body }) => body)).toEqual([asked, asked])
})

test('the test button of each destination sends a test and opens its deliveries', async ({ api, open }) => {
  for (const [destination, name, title] of [
    [webhook, webhook.url, 'Webhook'],
    [inSlack, 'https://hooks.slack.com', 'Slack'],
    [byEmail, 'Project Owners', 'Email'],
  ] as const) {
    api.answer('listWebhooks', { data: [destination], nextCursor: null })
    api.answer('readWebhook', destination)
    const { screen, address } = await open(`${project}/notices`)
    const sent = api.asked('testWebhook').length
    await screen.getByRole('button', { name: `Send test to ${name}` }).click()
    await expect.element(screen.getByRole('heading', { name: title, level: 1 })).toBeVisible()
    expect(address().pathname).toBe(`${project}/notices/webhooks/${destination.id}`)
    expect(api.asked('testWebhook')).toHaveLength(sent + 1)
    const rotate = screen.getByRole('button', { name: 'Rotate secret' })
    expect(rotate.elements()).toHaveLength(title === 'Webhook' ? 1 : 0)
    await screen.unmount()
  }
})

test('a delivery by email says that it was emailed, or why not', async ({ api, open }) => {
  const delivery = { ...contractExample('listDeliveries').data[0]!, status: null, nextTryAt: null }
  const emailed = { ...delivery, notice: 'ntc_1', state: 'Delivered', tries: 1, error: null } as const
  const dead = { ...delivery, notice: 'ntc_2', state: 'Dead', tries: 1, error: 'no_recipient' } as const
  api.answer('readWebhook', byEmail)
  api.answer('listDeliveries', { data: [emailed, dead], nextCursor: null })
  const { screen } = await open(`${project}/notices/webhooks/${byEmail.id}`)
  await expect.element(screen.getByRole('cell', { name: /^Emailed/ })).toBeVisible()
  await expect
    .element(screen.getByRole('cell', { name: /^1 attempt: no recipient has access to the project/ }))
    .toBeVisible()
})

test('deliveries are polled fast only while one is pending', async ({ api, open }) => {
  const delivery = { ...contractExample('listDeliveries').data[0]!, error: null, nextTryAt: null }
  const pending = { ...delivery, state: 'Pending', tries: 0, status: null, endedAt: null } as const
  const reads = (operation: 'readWebhook' | 'listDeliveries') => api.asked(operation).length
  api.answer('listDeliveries', { data: [pending], nextCursor: null })
  const { screen } = await open(`${project}/notices/webhooks/${webhook.id}`)
  await expect.element(screen.getByRole('cell', { name: /^Not attempted yet/ })).toBeVisible()
  api.answer('listDeliveries', { data: [{ ...delivery, state: 'Delivered', status: 204 }], nextCursor: null })
  await expect.element(screen.getByRole('cell', { name: /^HTTP 204/ })).toBeVisible()
  const before = { readWebhook: reads('readWebhook'), listDeliveries: reads('listDeliveries') }
  await expect.poll(() => reads('readWebhook')).toBeGreaterThan(before.readWebhook + 1)
  expect(reads('listDeliveries')).toBe(before.listDeliveries)
})

test('alert rules are not lost by Escape', async ({ api, open }) => {
  const { screen } = await open(`${project}/notices`)
  await screen.getByRole('button', { name: 'Edit alert rules' }).click()
  const form = screen.getByRole('dialog', { name: 'Edit alert rules' })
  const days = form.getByLabelText('Runway below (days)')
  await days.fill('9')
  await userEvent.keyboard('{Escape}')
  await screen.getByRole('dialog', { name: 'Unsaved changes' }).getByRole('button', { name: 'Stay' }).click()
  await expect.element(days).toHaveValue(9)
  await form.getByRole('button', { name: 'Save alert rules' }).click()
  await expect.element(form).not.toBeInTheDocument()
  expect(api.asked('setThresholds').at(-1)?.body).toMatchObject({ daysLeft: 9 })
})
