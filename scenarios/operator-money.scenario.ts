import { expect } from 'vitest'
import { usd } from '@gateway/pricing/usd'
import { intercept, type Page } from './src/console/browser.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import { consoleOperator, consoleOwner, consoleUser, signedInAt, signIn } from './src/console/users.ts'
import { chat, type Stack } from './src/stack.ts'
import { choose, dialogClosed } from './src/console/widgets.ts'

// Money and organizations for operators, in a browser, against the whole stack.

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const shown = (page: Page, where: string, micro: bigint) =>
  region(page, where)
    .getByTitle(`${micro.toLocaleString('en')} micro-USD`, { exact: true })
    .first()
    .waitFor()

/** Opens the project's wallet as an operator who also has a role on the project. */
async function operatorAtWallet(stack: Stack, tenant: Awaited<ReturnType<typeof consoleOwner>>, page: Page) {
  const id = await stack.fixture.issuer(tenant.project)
  await stack.fixture.run('UPDATE control.users SET platform_operator = true WHERE id = $1', [id])
  const operator = await consoleUser(stack, id)
  await page.goto(`${operator.start}/operator/money?tenant=${tenant.project.tenant}&project=${tenant.project.id}`)
  await signIn(page, operator)
  await region(page, 'Wallet').waitFor()
}

/** Fills in a funding and opens its review. */
async function lookAtFunding(page: Page, usd: string, id: string): Promise<void> {
  await page.getByRole('button', { name: 'Add funds' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add funds' })
  await dialog.getByLabel('Amount (USD)').fill(usd)
  await dialog.getByLabel('Funding ID').fill(id)
  await dialog.getByRole('button', { name: 'Review' }).click()
  await dialog.getByRole('button', { name: 'Add funds' }).waitFor()
}

const fundingsOf = async (page: Page) => {
  const rows = await region(page, 'Funding and corrections').locator('tbody tr').allTextContents()
  return rows.filter((row) => row.includes('invoice-'))
}

test('a funding and a correction by an operator appear in the journal and in the owner’s statement, to the micro-USD', async ({
  stack,
  visit,
}) => {
  const tenant = await consoleOwner(stack)
  const { page, problems } = await visit()
  await operatorAtWallet(stack, tenant, page)
  await lookAtFunding(page, '1.234567', 'invoice-7')
  await page.getByRole('dialog').getByRole('button', { name: 'Add funds' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await shown(page, 'Wallet', 6_234_567n)
  await page.getByRole('button', { name: 'Adjust balance' }).click()
  const correction = page.getByRole('dialog', { name: 'Adjust balance' })
  await choose(correction, 'Direction', 'Debit')
  await correction.getByLabel('Amount (USD)').fill('0.234568')
  await correction.getByLabel('Reason').fill('Came in twice.')
  await correction.getByLabel('Correction ID').fill('note-7')
  await correction.getByRole('button', { name: 'Review' }).click()
  await correction.getByTitle('5,999,999 micro-USD').waitFor()
  await correction.getByRole('button', { name: 'Adjust balance' }).click()
  await correction.waitFor({ state: 'detached' })
  await shown(page, 'Wallet', 5_999_999n)

  await page.getByText('journal entries').click()
  const journal = page.getByRole('table', { name: 'Journal' })
  await journal.getByRole('row').filter({ hasText: 'invoice-7' }).getByTitle('1,234,567 micro-USD').waitFor()
  await journal.getByRole('row').filter({ hasText: 'note-7' }).getByTitle('-234,568 micro-USD').waitFor()

  const owner = await visit()
  await owner.page.goto(`${tenant.home}/statement`)
  await signIn(owner.page, tenant)
  await shown(owner.page, 'Monthly balance', 6_234_567n)
  await shown(owner.page, 'Monthly balance', -234_568n)
  await shown(owner.page, 'Monthly balance', 5_999_999n)
  expect(await stack.wallet(tenant.project.id)).toMatchObject({ available: 5_999_999n })
  expect([problems, owner.problems]).toEqual([[], []])
})

test('a funding is booked once after a double click or a retry of a lost response', async ({ stack, visit }) => {
  const tenant = await consoleOwner(stack)
  const { page } = await visit()
  await operatorAtWallet(stack, tenant, page)
  const dialog = page.getByRole('dialog', { name: 'Add funds' })
  const book = dialog.getByRole('button', { name: 'Add funds' })

  await lookAtFunding(page, '1', 'invoice-twice')
  await page.evaluate(
    `(() => { const button = document.querySelector('[role=dialog] button[type=submit]'); button.click(); button.click() })()`,
  )
  await dialog.waitFor({ state: 'detached' })
  await shown(page, 'Wallet', 6_000_000n)

  await lookAtFunding(page, '2', 'invoice-lost')
  let sent = 0
  await intercept(page, '**/wallet/fundings', async (route) => {
    sent++
    if (sent > 1) return route.continue()
    await route.fetch() // the request is booked, but its response is lost
    return route.abort('connectionreset')
  })
  await book.click()
  await dialog.getByRole('alert').getByText('not_reached').waitFor()
  expect(await stack.wallet(tenant.project.id)).toMatchObject({ available: 8_000_000n })
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Add funds' }).click()
  expect(await dialog.getByLabel('Funding ID').inputValue()).toBe('invoice-lost')
  await dialog.getByRole('button', { name: 'Review' }).click()
  await book.click()
  await dialog.waitFor({ state: 'detached' })
  await shown(page, 'Wallet', 8_000_000n)
  expect(sent).toBe(2)
  expect(await fundingsOf(page)).toEqual([
    expect.stringContaining('invoice-lost'),
    expect.stringContaining('invoice-twice'),
  ])
  expect(await stack.wallet(tenant.project.id)).toMatchObject({ available: 8_000_000n })
})

test('a double click on Review does not book the funding', async ({ stack, visit }) => {
  const tenant = await consoleOwner(stack)
  const { page } = await visit()
  const sent: string[] = []
  page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))
  await operatorAtWallet(stack, tenant, page)
  await page.getByRole('button', { name: 'Add funds' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add funds' })
  await dialog.getByLabel('Amount (USD)').fill('1')
  await dialog.getByRole('button', { name: 'Review' }).click()
  const book = dialog.getByRole('button', { name: 'Add funds' })
  await book.waitFor()
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Review')
  await book.dispatchEvent('click', { detail: 2 })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(sent.filter((one) => /^POST .*fundings$/.test(one))).toEqual([])
  expect(await stack.wallet(tenant.project.id)).toMatchObject({ available: 5_000_000n })
})

test('an invalid funding or correction shows the error at its field and books nothing [already_exists] [insufficient_budget]', async ({
  stack,
  visit,
}) => {
  const [tenant, operator] = [await consoleOwner(stack, 1n), await consoleOperator(stack)]
  const { id: project } = tenant.project
  expect((await chat(stack, tenant)).status).toBe(402)
  const none = `${operator.start}/operator/money?tenant=${tenant.project.tenant}&project=prj_none`
  const { page, problems } = await signedInAt(visit, operator, none)
  await page.getByRole('alert').getByText('not_found').waitFor()
  await page.goto(`${operator.start}/operator/money`)
  await page.getByText('No wallet selected').waitFor()
  await page.getByRole('link', { name: 'All wallets' }).first().click()
  await page.getByPlaceholder('Organization or project').fill(project)
  await page
    .getByRole('row', { name: new RegExp(project) })
    .getByRole('link')
    .click()
  await shown(page, 'Wallet', 1n)
  await page.getByText('only users with a role on the project can see it').waitFor()
  await page.getByRole('button', { name: 'Add funds' }).click()
  const dialog = page.getByRole('dialog')
  const field = async (label: string) => {
    const input = dialog.getByLabel(label)
    await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true')
    const fault = (await input.getAttribute('aria-describedby'))!.split(' ').at(-1)!
    return dialog.locator(`[id="${fault}"]`).textContent()
  }
  const look = () => dialog.getByRole('button', { name: 'Review' }).click()
  const book = () => dialog.getByRole('button', { name: /^(Add funds|Adjust balance)$/ }).click()
  for (const amount of ['0', '-1', 'much', '0.0000001']) {
    await dialog.getByLabel('Amount (USD)').fill(amount)
    await look()
    expect(await field('Amount (USD)')).toContain('with up to six decimal places')
  }
  await dialog.getByLabel('Amount (USD)').fill('1')
  await dialog.getByLabel('Funding ID').fill('invoice 8')
  await look()
  await book()
  expect(await field('Funding ID')).toContain('must be 1 to 128 visible ASCII characters')
  await dialog.getByLabel('Funding ID').fill('invoice-8')
  await look()
  await book()
  await dialog.waitFor({ state: 'detached' })
  await shown(page, 'Wallet', 1_000_001n)
  await lookAtFunding(page, '2', 'invoice-8')
  await book()
  expect(await field('Funding ID')).toContain('The funding invoice-8 of $1.00')
  await page.getByRole('button', { name: 'Cancel' }).click()

  expect((await chat(stack, tenant)).status).toBe(200)
  const { available } = await stack.wallet(project)
  await page.getByRole('button', { name: 'Adjust balance' }).click()
  await choose(dialog, 'Direction', 'Debit')
  await dialog.getByLabel('Amount (USD)').fill('2')
  await dialog.getByLabel('Reason').fill('Came in twice.')
  await look()
  await book()
  expect(await field('Amount (USD)')).toContain(`The wallet has ${usd(available)} available`)
  await dialog.getByText(`Debit at most ${usd(available)}.`).waitFor()
  expect(await stack.wallet(project)).toMatchObject({ available })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialogClosed(page)
  expect(await fundingsOf(page)).toEqual([expect.stringContaining('invoice-8')])
  expect(problems).toEqual([])
})

test('an operator creates and deletes an organization, but cannot delete one with projects [not_empty]', async ({
  stack,
  visit,
}) => {
  const [tenant, operator] = [await consoleOwner(stack), await consoleOperator(stack)]
  const { page, problems } = await signedInAt(visit, operator, `${operator.start}/operator/organizations`)
  await page.getByRole('button', { name: 'Create organization' }).first().click()
  const name = `Made ${tenant.project.id}`
  await page.getByRole('dialog').getByLabel('Name').fill(name)
  await page.getByRole('dialog').getByRole('button', { name: 'Create organization' }).click()
  await page.getByRole('button', { name: `Delete ${name}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete organization' }).click()
  await dialogClosed(page)
  await page.getByRole('row').filter({ hasText: name }).waitFor({ state: 'detached' })

  const kept = page.getByRole('row').filter({ hasText: tenant.project.tenant })
  await kept.getByRole('button', { name: /^Delete/ }).click()
  await page.getByRole('dialog').getByText("You aren't a member").waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete organization' }).click()
  await page.getByRole('alert').getByText('not_empty').waitFor()
  expect(problems).toEqual([])
})
