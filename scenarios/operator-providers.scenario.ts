import { expect } from 'vitest'
import { openPage, views } from './src/console/browser.ts'
import { operatorTest } from './src/console/operator-test.ts'
import { consoleUser, signIn } from './src/console/users.ts'
import { chat } from './src/stack.ts'

// A provider that fails and recovers, as an operator sees it in a browser.

const test = operatorTest({ tries: 1, circuitFailures: 3, circuitOpenMs: 500 }).extend('called', async ({ place }) => {
  const { stack, tenant } = place
  const model = await stack.fixture.publishProduct({
    promptPico: 1_000_000n,
    completionPico: 1_000_000n,
    providers: ['alpha', 'beta'].map((name, priority) => ({ provider: name, model: 'tapir-large', priority })),
  })
  await stack.fixture.assign(tenant.project.id, model)
  return { ...tenant, model }
})

test('an operator sees how a provider fails, that another one takes its calls, and that it recovers', async ({
  place,
  called,
}) => {
  const { stack, browser, alpha } = place
  const id = await stack.fixture.issuer(called.project)
  await stack.fixture.run('UPDATE control.users SET platform_operator = true WHERE id = $1', [id])
  const operator = await consoleUser(stack, id)
  const { page, problems, close } = await openPage(browser, views[0])
  await page.goto(`${operator.start}/operator/providers`)
  await signIn(page, operator)
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
  await row('alpha').getByText('No calls').waitFor()
  await row('alpha').getByText('Environment variable').waitFor()

  await alpha.setFaults([{ status: 503 }])
  for (let n = 0; n < 3; n++) expect((await chat(stack, called)).status).toBe(200)
  await row('alpha').getByText('Circuit open in 1 of 1 process').waitFor()
  await row('alpha').getByText('100%').waitFor()
  expect(await row('alpha').getByRole('cell').last().textContent()).toBe('Environment variable')
  await row('beta').getByText('Healthy').waitFor()
  expect(await row('beta').getByRole('cell').allTextContents()).toEqual(expect.arrayContaining(['3', '0%']))

  await page.getByRole('link', { name: 'alpha', exact: true }).click()
  const health = page.getByRole('region', { name: 'Health' })
  await health.getByText('Circuit open in 1 of 1 process').waitFor()
  await page.getByRole('region', { name: 'Processes' }).getByText('Open', { exact: true }).waitFor()
  const failures = page.getByRole('region', { name: 'Most recent failures' })
  await failures.getByText('Refused: 503').first().waitFor()
  await failures.getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Call', level: 1 }).waitFor()
  await page.getByText('Charged').first().waitFor() // by the other provider
  await page.goBack()

  await alpha.clearFaults()
  const failed = await alpha.countCalls()
  await expect
    .poll(
      async () => {
        expect((await chat(stack, called)).status).toBe(200)
        return alpha.countCalls()
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThan(failed)
  await page.getByRole('region', { name: 'Processes' }).getByText('Closed', { exact: true }).waitFor()
  await health.getByText('Failing').waitFor() // more than 5 % of the last hour
  expect(problems).toEqual([])
  await close()
})
