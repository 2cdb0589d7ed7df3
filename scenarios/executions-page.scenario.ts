import { expect } from 'vitest'
import { callerAt } from './src/caller.ts'
import { hindrances, isTooWide, views, type Page } from './src/console/browser.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import { canvasOf } from './src/console/flow-canvas.ts'
import { consoleOwner, signedInAt } from './src/console/users.ts'
import { flows } from './src/mcp/flows.ts'
import { TRACE_URL } from './src/stack-test.ts'
import { chat, type Stack } from './src/stack.ts'
import { choose, dialogClosed } from './src/console/widgets.ts'

// The executions of a project in a browser: one list for all flows, executions in progress, and links to the canvas.

/** A project with a flow that calls a model, and a user who runs it; `hold` keeps its calls in progress. */
async function owningFlow(stack: Stack, prompt: string) {
  const owner = await consoleOwner(stack)
  const flow = await stack.fixture.sandbox(owner.project, flows.draft(owner.model))
  const user = callerAt(stack.gateways[0]!.url, (await stack.fixture.token(owner.owner)).secret)
  const api = `/api/v2/tenants/${owner.project.tenant}`
  const { control } = stack.provider
  return {
    owner,
    execute: () => user.ask('POST', `${api}/sandboxes/${flow.id}/execute`, { input: { text: prompt } }),
    hold: () => control.setFaults([{ prompt, hold: true }]),
    async letGo() {
      await control.clearFaults()
      await control.release()
    },
    isCalled: () => control.waitForCalls(1, { prompt }),
    listed: async () => (await user.ask('GET', `${api}/projects/${owner.project.id}/executions`)).body,
  }
}

const holds = async (page: Page) => {
  await page.locator('.waiting').first().waitFor({ state: 'detached' })
  expect([await hindrances(page), await isTooWide(page)]).toEqual([[], false])
}

test.for(views)(
  'an execution appears in the list, updates in place, and opens on its canvas at $width pixels',
  async (view, { stack, visit }) => {
    const { owner, execute, hold, letGo, isCalled, listed } = await owningFlow(stack, `Write, ${view.width}.`)
    const { page, problems } = await signedInAt(visit, owner, `${owner.home}/executions`, view)
    await page.getByText('No executions yet').waitFor()
    await holds(page)

    await hold()
    const [executed] = [execute(), await isCalled()]
    const row = page.locator('tbody tr')
    await row.getByText('Running', { exact: true }).waitFor()
    await row.getByText('so far').waitFor()
    await row.getByText('You').waitFor()
    await holds(page)
    await letGo()
    const { body: record } = await executed
    await row.getByText('Succeeded').waitFor()
    const { chargedMicro } = record as { chargedMicro: number }
    await row.getByTitle(`${chargedMicro} micro-USD`).waitFor()
    expect(await listed()).toMatchObject({ data: [{ status: 'Succeeded', chargedMicro, user: owner.owner }] })

    await choose(page, 'State', 'Failed')
    await page.getByText('No matching executions').waitFor()
    expect(page.url()).toContain('state=Failed')
    await page.getByRole('button', { name: 'Remove filter state: Failed' }).click()
    await row.getByRole('link').click()
    await page.getByRole('region', { name: 'Result of the execution' }).getByText('Succeeded').waitFor()
    await canvasOf(page).node('draft').getByText('done').waitFor({ state: 'attached' })
    expect(problems).toEqual([])
  },
)

test('a call page links to its trace at the configured URL', async ({ stack, visit }) => {
  const owner = await consoleOwner(stack)
  const answer = await chat(stack, owner)
  const invocation = answer.headers.get('X-Service-Invocation')!
  const { page } = await signedInAt(visit, owner, `${owner.home}/calls/${invocation}`)
  const href = await page.getByRole('link', { name: 'Trace' }).getAttribute('href')
  expect(href).toBe(TRACE_URL.replace('{invocation}', invocation))
})

test('the overview shows the cost of running executions and stops one after confirmation', async ({ stack, visit }) => {
  const { owner, execute, hold, letGo, isCalled, listed } = await owningFlow(stack, 'Write for long.')
  const { page, problems } = await signedInAt(visit, owner, owner.home)
  await hold()
  const [executed] = [execute(), await isCalled()]
  const running = page.getByRole('region', { name: 'Running now' })
  await running.getByText(/^\d+ s$/).waitFor()
  await running.getByText('so far').waitFor()
  await holds(page)

  await running.getByRole('button', { name: /^Stop/ }).click()
  const dialog = page.getByRole('dialog', { name: /^Stop the execution of/ })
  await dialog.getByText('Completed calls stay charged').waitFor()
  await dialog.getByRole('button', { name: 'Stop execution' }).click()
  await dialogClosed(page)
  await running.waitFor({ state: 'detached' })
  await letGo()
  expect((await executed).body).toMatchObject({ status: 'Cancelled' })
  expect(await listed()).toMatchObject({ data: [{ status: 'Cancelled' }] })
  expect(problems).toEqual([])
})
