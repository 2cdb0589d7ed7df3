import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { consoleTest as test } from './src/console/console-test.ts'
import { hindrances } from './src/console/browser.ts'
import { canvasOf } from './src/console/flow-canvas.ts'
import { ownedFlow } from './src/console/owned-flow.ts'
import { consoleOwner, signedInAt, signIn } from './src/console/users.ts'
import { PNG } from './src/console/png.ts'
import { choose, optionsOf } from './src/console/widgets.ts'
import { readDocBlocks } from './src/guides/doc-blocks.ts'
import { flows } from './src/mcp/flows.ts'

// The panels next to the canvas: executions, their inputs and results, and revisions.

test('the canvas shows the input, output and cost of each node of an execution, and the value of each edge', async ({
  stack,
  visit,
}) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address)
  await canvasOf(page).node('draft').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const long = 'rain '.repeat(80).trim()
  await page.locator('.run-panel').getByLabel('text', { exact: true }).fill(long)
  await page.locator('.run-panel').getByRole('button', { name: 'Run', exact: true }).click()
  await canvasOf(page).node('out').getByText('done').waitFor()

  const edge = page.getByLabel('From in.text to ask.text')
  await edge.focus()
  const glance = page.locator('.edge-value')
  await glance.getByText('in.text → ask.text').waitFor()
  expect(await glance.locator('pre').textContent()).toMatch(/^rain .*…$/)
  await page.keyboard.press('Enter')
  const edgeValue = page.getByRole('complementary').getByRole('region', { name: 'Value from in.text to ask.text' })
  await edgeValue.getByRole('button', { name: 'Show all' }).click()
  expect(await edgeValue.locator('pre').textContent()).toBe(long)

  await canvasOf(page).select('draft')
  const did = page.getByRole('region', { name: 'Result of draft' })
  await did.getByText('Attempts').waitFor()
  await did.getByRole('button', { name: 'Show all' }).first().click()
  expect(await did.locator('pre').first().textContent()).toBe(`Write about ${long}.`)
  const { settled } = await stack.wallet(owner.project.id)
  await did
    .getByTitle(`${Number(settled).toLocaleString('en')} micro-USD`)
    .first()
    .waitFor()
  expect(await hindrances(page)).toEqual([])

  await page.locator('.run-panel').getByLabel('Max cost (USD)').fill('0.000001')
  await page.locator('.run-panel').getByRole('button', { name: 'Run', exact: true }).click()
  await did.getByText(/the execution may cost at most \$0\.000001/).waitFor()
  await page.reload()
  await canvasOf(page).node('draft').getByText('failed').waitFor()
  await page.getByRole('button', { name: 'Executions', exact: true }).click()
  await page.getByRole('button', { name: 'Show on canvas' }).last().click()
  await canvasOf(page).node('ask').click()
  await page.getByRole('region', { name: 'Result of ask' }).getByText('Attempts').waitFor()
  expect(problems).toEqual([])
})

test('the run form uploads, previews, removes and selects images, rejects other files unsent, and offers the result for download', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { id } = await stack.fixture.sandbox(owner.project, flows.mirror())
  const { page, problems } = await visit()
  const sent: string[] = []
  page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))
  await page.goto(`${owner.home}/flows/${id}`)
  await signIn(page, owner)
  await canvasOf(page).node('in').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const run = page.locator('.run-panel')
  const field = run.getByRole('group', { name: 'photo' })
  const file = field.locator('input[type=file]')
  await file.setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no image') })
  await field.getByText('Choose a PNG, JPEG or WebP file.').waitFor()
  expect(sent.filter((one) => /^POST .*assets$/.test(one))).toEqual([])

  await file.setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: PNG })
  const seen = field.getByRole('img')
  await seen.waitFor()
  await expect.poll(() => page.evaluate('document.querySelector(".asset-view img").naturalWidth')).toBe(1)
  await field.getByRole('button', { name: 'Remove' }).click()
  await seen.waitFor({ state: 'detached' })
  await choose(field, 'photo: project asset', /UTC/)
  await seen.waitFor()
  expect(await hindrances(page)).toEqual([])

  await run.getByRole('button', { name: 'Run', exact: true }).click()
  const answered = page.getByRole('region', { name: 'Result of the execution' })
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    answered.getByRole('link', { name: 'Download' }).click(),
  ])
  expect(await readFile(await download.path())).toEqual(PNG)
  expect(problems).toEqual([])
})

test('comparing two revisions marks the differences on one canvas and lists them', async ({ stack, visit }) => {
  const { owner, address } = await ownedFlow(stack)
  const { page, problems } = await signedInAt(visit, owner, address)
  await canvasOf(page).node('ask').click()
  await page.getByLabel('Text', { exact: true }).fill('Sing about {{ text }}.')
  await page.getByLabel('From draft.text to out.text').focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Delete')
  await page.getByRole('button', { name: 'Revisions', exact: true }).click()
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Differences' })
  const list = dialog.getByRole('list', { name: 'All differences' })
  await list.getByText('node ask ≠ changed: template').waitFor()
  await list.getByText('edge draft.text to out.text − removed').waitFor()
  await dialog.locator('.react-flow__node[data-id="ask"]').getByText('≠ changed').waitFor()
  await dialog.getByLabel('From draft.text to out.text − removed').waitFor({ state: 'attached' })
  expect(await hindrances(page)).toEqual([])
  await choose(dialog, 'To', 'Revision 1')
  await dialog.getByText('No differences.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  expect(problems).toEqual([])
})

test('Connect client shows the settings of docs/mcp.md without a secret, and exposes the flow as an MCP server', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const one = (name: string) => ({
    type: 'object' as const,
    properties: { [name]: { type: 'string' } },
    required: [name],
  })
  const { id } = await stack.fixture.sandbox(owner.project, {
    input: one('topic'),
    output: one('text'),
    nodes: [
      { id: 'in', kind: 'input' },
      { id: 'out', kind: 'output' },
    ],
    edges: [{ from: 'in.topic', to: 'out.text' }],
  })
  const path = `/api/v2/tenants/${owner.project.tenant}/sandboxes/${id}`
  await owner.caller.ask('PATCH', path, { name: 'Your flow', mcpEnabled: false })
  const { page, problems } = await signedInAt(visit, owner, `${owner.home}/flows/${id}`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Connect client' }).click()
  const dialog = page.getByRole('dialog', { name: 'Connect client' })
  await dialog.getByText('Clients are refused while this is off.').waitFor()
  await dialog.getByLabel('Expose as MCP server').click()
  await dialog.getByText('Clients are refused while this is off.').waitFor({ state: 'detached' })
  expect((await owner.caller.ask('GET', path)).body.mcpEnabled).toBe(true)

  const blocks = await readDocBlocks(join(import.meta.dirname, '../docs/mcp.md'))
  const clients = await optionsOf(dialog, 'Client')
  expect(clients).toEqual(['Claude Desktop', 'Claude Code', 'Codex', 'Cursor', 'VS Code', 'MCP Inspector'])
  for (const client of clients) {
    await choose(dialog, 'Client', client)
    await dialog.getByRole('button', { name: `Copy the settings for ${client}` }).waitFor()
    const shown = (await dialog.locator('pre').textContent())!
    const said = shown
      .replaceAll(/https?:[^"\s]*?(?=\/v1\/)/g, 'https://gateway.example')
      .replaceAll(id, 'sbx-your-flow')
    expect(said).toBe(blocks.find(({ title }) => title === client)!.text)
  }
  expect(await hindrances(page)).toEqual([])
  expect(problems).toEqual([])
})
