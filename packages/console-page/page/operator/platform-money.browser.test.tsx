import { expect } from 'vitest'
import { userEvent } from 'vitest/browser'
import { Refusal } from '@gateway/api/refusal'
import { choose, contractExample, goBackNow, pageTest as test } from '../page-test.fixture.tsx'

const me = { ...contractExample('readMe'), platformOperator: true }
const wallet = contractExample('listWallets').data[0]!

test('wallets are sorted and searched by the service, and kept in the address', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('listWallets', { data: [{ ...wallet, runwayDays: 3, alerts: 2 }], nextCursor: null })
  const { screen, address } = await open('/operator/wallets')
  await expect.element(screen.getByText('3 days')).toBeVisible()
  await expect.element(screen.getByText('2 alerts')).toBeVisible()
  await screen.getByRole('button', { name: 'Runway' }).click()
  await expect.poll(() => api.asked('listWallets').at(-1)?.query).toMatchObject({ sort: 'runway', order: 'asc' })
  await expect.element(screen.getByRole('columnheader', { name: 'Runway' })).toHaveAttribute('aria-sort', 'ascending')
  await screen.getByRole('button', { name: 'Runway' }).click()
  await expect.poll(() => address().search).toEqual({ column: 'runway', order: 'desc' })
  await screen.getByRole('searchbox', { name: 'Search wallets' }).fill('acme')
  await expect.poll(() => api.asked('listWallets').at(-1)?.query).toMatchObject({ q: 'acme', sort: 'runway' })
  await screen.getByRole('link', { name: wallet.projectName }).click()
  await expect.poll(() => address().search).toEqual({ tenant: wallet.tenant, project: wallet.project })
})

test('further wallets follow on the next page, and are not in the file', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('listWallets', { data: [wallet], nextCursor: wallet.project })
  const { screen } = await open('/operator/wallets')
  await expect.element(screen.getByRole('button', { name: 'Download the 1 row shown as CSV' })).toBeVisible()
  await screen.getByRole('button', { name: 'Show more' }).click()
  await expect.poll(() => api.asked('listWallets').at(-1)?.query).toMatchObject({ cursor: wallet.project })
})

test('revenue has cost and margin by product and month, for a chosen number of months', async ({ api, open }) => {
  api.answer('readMe', me)
  const { screen, address } = await open('/operator/revenue')
  await expect.element(screen.getByRole('rowheader', { name: /Swift/ })).toBeVisible()
  await expect.element(screen.getByText('Margin, 40%')).toBeVisible()
  await expect.element(screen.getByText('96% of charges')).toBeVisible()
  await expect.element(screen.getByText(/an unknown cost is never counted as zero/)).toBeVisible()
  await expect.element(screen.getByRole('slider', { name: 'Charged and provider cost per month' })).toBeVisible()
  await choose(screen.getByRole('combobox', { name: 'Time' }), 'Last 12 months')
  await expect.poll(() => address().search).toEqual({ months: 12 })
  const months = ({ from, to }: { from?: string; to?: string }) => {
    const [start, end] = [from!, to!].map((text) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5)))
    return end! - start! + 1
  }
  await expect.poll(() => months(api.asked('readRevenue').at(-1)!.query)).toBe(12)
})

test('an unknown provider cost is shown as such, with no margin', async ({ api, open }) => {
  api.answer('readMe', me)
  const report = contractExample('readRevenue')
  const unknown = { costedCalls: 0, costedMicro: 0, costMicro: null, marginMicro: null }
  const data = [{ ...report.data[0]!, ...unknown }]
  api.answer('readRevenue', { ...report, data, total: { ...report.total, ...unknown } })
  const { screen } = await open('/operator/revenue')
  const row = screen.getByRole('row', { name: /Swift/ })
  await expect.element(row.getByText('Unknown').first()).toBeVisible()
  await expect.element(row.getByText('0%', { exact: true })).toBeVisible()
  await expect.element(screen.getByText('Margin', { exact: true }).first()).toBeVisible()
})

test('a funding focuses the field that the form or the service refuses', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('fundWallet', new Refusal('already_exists', 'Booked.', 'Use another ID.', { param: 'fundingId' }))
  const { screen } = await open(`/operator/money?tenant=${wallet.tenant}&project=${wallet.project}`)
  await screen.getByRole('button', { name: 'Add funds' }).click()
  const dialog = screen.getByRole('dialog', { name: 'Add funds' })
  await dialog.getByLabelText('Amount (USD)').fill('0')
  await dialog.getByRole('button', { name: 'Review' }).click()
  await expect.element(dialog.getByLabelText('Amount (USD)')).toHaveFocus()
  await dialog.getByLabelText('Amount (USD)').fill('25')
  await dialog.getByRole('button', { name: 'Review' }).click()
  await dialog.getByRole('button', { name: 'Add funds' }).click()
  await expect.element(dialog.getByLabelText('Funding ID')).toHaveFocus()
})

test('a funding that is being booked keeps its dialog, and the next one has another ID', async ({ api, open }) => {
  api.answer('readMe', me)
  const booked = Promise.withResolvers<ReturnType<typeof contractExample<'fundWallet'>>>()
  api.answer('fundWallet', booked.promise)
  const { screen } = await open(`/operator/money?tenant=${wallet.tenant}&project=${wallet.project}`)
  const dialog = screen.getByRole('dialog', { name: 'Add funds' })
  await screen.getByRole('button', { name: 'Add funds' }).click()
  const id = dialog.getByLabelText('Funding ID').element() as HTMLInputElement
  const first = id.value
  await dialog.getByLabelText('Amount (USD)').fill('25')
  await dialog.getByRole('button', { name: 'Review' }).click()
  await dialog.getByRole('button', { name: 'Add funds' }).click()
  await expect.poll(() => api.asked('fundWallet').length).toBe(1)
  await userEvent.keyboard('{Escape}')
  await expect.element(dialog.getByRole('button', { name: 'Cancel' })).toBeDisabled()
  booked.resolve(contractExample('fundWallet'))
  await expect.element(dialog).not.toBeInTheDocument()
  await screen.getByRole('button', { name: 'Add funds' }).click()
  await expect.element(dialog.getByLabelText('Amount (USD)')).toHaveValue('')
  expect((dialog.getByLabelText('Funding ID').element() as HTMLInputElement).value).not.toBe(first)
})

test('leaving asks before a typed funding is lost, and is refused while it is booked', async ({ api, open }) => {
  api.answer('readMe', me)
  const booked = Promise.withResolvers<ReturnType<typeof contractExample<'fundWallet'>>>()
  api.answer('fundWallet', booked.promise)
  const { screen, address, goTo, goBack } = await open('/operator/wallets', { hasBack: true })
  await goTo(`/operator/money?tenant=${wallet.tenant}&project=${wallet.project}`)
  const dialog = screen.getByRole('dialog', { name: 'Add funds' })
  const question = screen.getByRole('dialog', { name: 'Unsaved changes' })
  await screen.getByRole('button', { name: 'Add funds' }).click()
  await dialog.getByLabelText('Amount (USD)').fill('25')
  goBack()
  await question.getByRole('button', { name: 'Stay' }).click()
  await dialog.getByRole('button', { name: 'Review' }).click()
  await dialog.getByRole('button', { name: 'Add funds' }).click()
  await expect.poll(() => api.asked('fundWallet').length).toBe(1)
  await goBackNow(goBack)
  await expect.element(question).not.toBeInTheDocument()
  booked.resolve(contractExample('fundWallet'))
  await expect.element(dialog).not.toBeInTheDocument()
  expect(address().pathname).toBe('/operator/money')
  goBack()
  await expect.poll(() => address().pathname).toBe('/operator/wallets')
})

test('the file of wallets has dollars, as the screen does', async ({ api, open, onTestFinished }) => {
  api.answer('readMe', me)
  api.answer('listWallets', { data: [{ ...wallet, balanceMicro: 5_000_000, alerts: 2 }], nextCursor: null })
  let file: Promise<string> | null = null
  const { click } = HTMLAnchorElement.prototype
  onTestFinished(() => void (HTMLAnchorElement.prototype.click = click))
  HTMLAnchorElement.prototype.click = function save(this: HTMLAnchorElement) {
    file = fetch(this.href).then((answer) => answer.text())
  }
  const { screen } = await open('/operator/wallets')
  await screen.getByRole('button', { name: 'Download CSV' }).click()
  await expect.poll(() => file).not.toBeNull()
  const [head, row] = (await file!).split('\r\n').map((line) => line.split(','))
  const cell = (name: string) => row![head!.indexOf(name)]
  expect([cell('Balance'), cell('Alerts')]).toEqual(['5', '2'])
})
