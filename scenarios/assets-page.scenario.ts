import { expect } from 'vitest'
import { callerAt } from './src/caller.ts'
import { intercept, type Page } from './src/console/browser.ts'
import { consoleTest as test } from './src/console/console-test.ts'
import { canvasOf } from './src/console/flow-canvas.ts'
import { consoleOwner, signedInAt, signIn } from './src/console/users.ts'
import { PNG } from './src/console/png.ts'
import { flows } from './src/mcp/flows.ts'
import type { Stack } from './src/stack.ts'

// The Assets page of a project in a browser.

/** A second of silence. */
const WAV = Buffer.concat([
  Buffer.from('524946466c1f000057415645666d74201000000001000100401f0000401f000001000800', 'hex'),
  Buffer.from('64617461401f0000', 'hex'),
  Buffer.alloc(8_000, 128),
])

/** Drops files onto the page. Each is a name and a JavaScript expression for its bytes. */
async function drop(page: Page, files: [name: string, bytes: string][]): Promise<void> {
  const made = files.map(([name, bytes]) => `data.items.add(new File([${bytes}], '${name}'))`)
  const data = `(() => { const data = new DataTransfer(); ${made.join(';')}; return data })()`
  const event = (kind: string) => `new DragEvent('${kind}', { dataTransfer: data, bubbles: true, cancelable: true })`
  await page.evaluate(
    `(() => { const data = ${data}; document.body.dispatchEvent(${event('dragover')}); document.body.dispatchEvent(${event('drop')}) })()`,
  )
}

const bytesOf = (buffer: Buffer) => `Uint8Array.from(atob('${buffer.toString('base64')}'), (c) => c.charCodeAt(0))`
const assetsOf = (page: Page) => page.getByRole('list', { name: 'Assets, newest first' }).getByRole('listitem')
const widthOf = (page: Page) => page.evaluate<number>('document.querySelector(".asset-preview img")?.naturalWidth ?? 0')

/** Uploads a file as an asset through the API. */
async function upload(stack: Stack, owner: Awaited<ReturnType<typeof consoleOwner>>, body = PNG, type = 'image/png') {
  const user = callerAt(stack.gateways[0]!.url, (await stack.fixture.token(owner.owner)).secret)
  const { tenant, id } = owner.project
  const made = await user.ask('POST', `/api/v2/tenants/${tenant}/projects/${id}/assets`, body, {
    'content-type': type,
  })
  expect(made.status).toBe(201)
  return made.body.id as string
}

test('uploads and shows dropped files, rejects unsupported and oversized ones without sending them, and deletes an asset', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page, problems } = await visit()
  const sent: string[] = []
  page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))
  await page.goto(`${owner.home}/assets`)
  await signIn(page, owner)
  await page.getByText('No assets yet').waitFor()
  await page.getByText('at most 25 MB each. Deleted after 90 days').waitFor()

  await drop(page, [
    ['notes.png', `'no image'`],
    ['dot.png', bytesOf(PNG)],
    ['huge.png', 'new Uint8Array(25000001)'],
    ['silence.wav', bytesOf(WAV)],
  ])
  const uploads = page.getByRole('region', { name: 'Uploads' })
  await uploads.getByText('Choose a PNG, JPEG, WebP, WAV, MP3 or PDF file.').waitFor()
  await uploads.getByText('The file has 25,000,001 bytes, more than the maximum of 25,000,000.').waitFor()
  await expect.poll(() => assetsOf(page).count()).toBe(2)
  expect(await assetsOf(page).first().textContent()).toContain('WAV audio')
  expect(sent.filter((one) => /^POST .*assets$/.test(one))).toHaveLength(2)
  await expect.poll(() => widthOf(page)).toBe(1)
  await assetsOf(page).nth(1).getByText('uploaded by you').waitFor()
  await uploads.getByRole('button', { name: 'Dismiss notes.png' }).click()
  await uploads.getByRole('button', { name: 'Dismiss huge.png' }).click()
  await uploads.waitFor({ state: 'detached' })

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    assetsOf(page)
      .nth(1)
      .getByRole('link', { name: /^Download/ })
      .click(),
  ])
  expect(download.suggestedFilename()).toMatch(/^ast_.*\.png$/)
  await assetsOf(page)
    .first()
    .getByRole('button', { name: /^Delete/ })
    .click()
  const asked = page.getByRole('dialog', { name: 'Delete this WAV audio?' })
  await asked.getByText('asset_not_found').waitFor()
  await asked.getByRole('button', { name: 'Delete' }).click()
  await asked.waitFor({ state: 'detached' })
  expect(await assetsOf(page).count()).toBe(1)
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Assets')
  expect(problems).toEqual([])
})

test('shows a failed upload and retries it in place', async ({ stack, visit }) => {
  const owner = await consoleOwner(stack)
  const { page } = await signedInAt(visit, owner, `${owner.home}/assets`)
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Upload files' }).click()
  await intercept(page, '**/assets', (route) =>
    route.request().method() === 'POST' ? route.abort() : route.continue(),
  )
  await (await chooser).setFiles([{ name: 'dot.png', mimeType: 'image/png', buffer: PNG }])
  const uploads = page.getByRole('region', { name: 'Uploads' })
  await uploads.getByRole('alert').getByText('not_reached').waitFor()
  await page.unroute('**/assets')
  await uploads.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => assetsOf(page).count()).toBe(1)
  await uploads.waitFor({ state: 'detached' })
})

test('copies an asset ID that an execution accepts as input', async ({ stack, visit }) => {
  const owner = await consoleOwner(stack)
  const id = await upload(stack, owner)
  const flow = await stack.fixture.sandbox(owner.project, flows.mirror())
  const { page, problems } = await visit()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`${owner.home}/assets`)
  await signIn(page, owner)
  await page.getByRole('button', { name: `Copy ID ${id}` }).click()
  await page.getByRole('button', { name: `Copy ID ${id} (copied)` }).waitFor()

  await page.goto(`${owner.home}/flows/${flow.id}`)
  await canvasOf(page).node('in').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const run = page.locator('.run-panel')
  await run.getByLabel('photo: asset ID').focus()
  await page.keyboard.press('ControlOrMeta+v')
  await run
    .getByRole('group', { name: 'photo' })
    .getByRole('img', { name: `Image ${id}` })
    .waitFor()
  await run.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByRole('region', { name: 'Result of the execution' }).getByText('image/png').waitFor()
  expect(problems).toEqual([])
})

test('filters assets by execution, with the filter in the URL', async ({ stack, visit }) => {
  const owner = await consoleOwner(stack)
  const [made, other] = [await upload(stack, owner), await upload(stack, owner)]
  await stack.fixture.run(
    `UPDATE money.assets SET user_id = NULL, execution = 'exe_made', sandbox = 'sbx_made' WHERE id = $1`,
    [made],
  )
  const { page } = await signedInAt(visit, owner, `${owner.home}/assets`)
  await page.getByRole('link', { name: 'an execution' }).click()
  await assetsOf(page).filter({ hasText: other }).waitFor({ state: 'detached' })
  await page.reload()
  await assetsOf(page).filter({ hasText: made }).waitFor()
  expect(await assetsOf(page).count()).toBe(1)
  await page.getByRole('button', { name: /^Remove filter execution/ }).click()
  await expect.poll(() => assetsOf(page).count()).toBe(2)
})

test('hides assets from other projects and from users without a role that reads them [asset_not_found]', async ({
  stack,
  visit,
}) => {
  const [owner, other] = [await consoleOwner(stack), await consoleOwner(stack)]
  const id = await upload(stack, owner)
  const { page } = await signedInAt(visit, other, `${other.home}/assets`)
  await page.getByText('No assets yet').waitFor()
  const bytes = (tenant: string) => page.request.get(`${stack.gateways[0]!.url}/api/v2/tenants/${tenant}/assets/${id}`)
  for (const { project } of [owner, other])
    expect(await (await bytes(project.tenant)).json()).toMatchObject({ error: { code: 'asset_not_found' } })
  await page.goto(`${owner.home}/assets`)
  await page.getByText("You don't have access to the assets of this project").waitFor()
  expect(await page.getByRole('button', { name: 'Upload files' }).count()).toBe(0)

  await stack.fixture.run(`UPDATE control.project_grants SET role = 'Project Viewer' WHERE user_id = $1`, [other.owner])
  await page.goto(`${other.home}/assets`)
  await page.getByRole('link', { name: 'View project owners' }).click()
  await page.getByRole('heading', { name: 'Users', level: 1 }).waitFor()
})

test('asks for confirmation before shortening asset retention, but not before lengthening it', async ({
  stack,
  visit,
}) => {
  const owner = await consoleOwner(stack)
  const { page, problems } = await signedInAt(visit, owner, `${owner.home}/settings`)
  const { tenant, id } = owner.project
  const kept = async () => {
    const { body } = await owner.caller.ask('GET', `/api/v2/tenants/${tenant}/projects`)
    return (body as { data: { id: string; assetRetentionDays: number | null }[] }).data.find((one) => one.id === id)
      ?.assetRetentionDays
  }
  const setTo = async (days: string) => {
    await page.getByLabel('Delete assets after (days)').fill(days)
    await save.click()
  }
  const save = page.getByRole('region', { name: 'Assets' }).getByRole('button', { name: 'Save' })
  const dialog = page.getByRole('dialog', { name: 'Delete assets older than 30 days?' })

  await setTo('30')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await kept()).toBe(90)
  await save.click()
  await dialog.getByRole('button', { name: 'Delete assets' }).click()
  // The dialog blocks the page until the settings have been re-read.
  await dialog.waitFor({ state: 'detached' })
  expect(await kept()).toBe(30)
  await setTo('90')
  await expect.poll(kept).toBe(90)
  await setTo('')
  await expect.poll(kept).toBeNull()
  expect(problems).toEqual([])
})
