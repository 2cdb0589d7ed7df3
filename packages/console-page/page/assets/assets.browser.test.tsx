import { expect, onTestFinished } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

const pngHead = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

async function upload(...names: string[]): Promise<void> {
  const files = names.map((name) => new File([new Uint8Array(pngHead)], name, { type: 'image/png' }))
  await userEvent.upload(document.querySelector('input[type=file]')!, files)
}

test('leaving during an upload asks first, and the next screen reports a failure', async ({ api, open }) => {
  const answer = Promise.withResolvers<ReturnType<typeof contractExample<'uploadAsset'>>>()
  api.answer('uploadAsset', answer.promise)
  const { screen, address, goTo } = await open(`${project}/assets`)
  await expect.element(screen.getByRole('button', { name: 'Upload files' })).toBeVisible()
  await upload('dot.png')
  await expect.poll(() => api.asked('uploadAsset').length).toBe(1)

  void goTo(`${project}/flows`)
  const dialog = screen.getByRole('dialog', { name: 'Uploads in progress' })
  await dialog.getByRole('button', { name: 'Stay' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
  expect(address().pathname).toBe(`${project}/assets`)
  void goTo(`${project}/flows`)
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await expect.element(screen.getByRole('heading', { name: 'Flows', level: 1 })).toBeVisible()
  answer.reject(new TypeError('Failed to fetch'))
  await expect
    .element(screen.getByText('dot.png was not uploaded. The service could not be reached.').first())
    .toBeVisible()
})

test('files that wait when the user goes to another project are uploaded to theirs', async ({ api, open }) => {
  const first = Promise.withResolvers<ReturnType<typeof contractExample<'uploadAsset'>>>()
  api.answer('uploadAsset', () => first.promise)
  const me = contractExample('readMe')
  const [tenant] = me.tenants
  const [one] = tenant!.projects
  const projects = [one!, { ...one!, id: `${one!.id}_2` }]
  api.answer('readMe', { ...me, tenants: [{ ...tenant!, projects }] })
  const { screen, goTo } = await open(`${project}/assets`)
  await expect.element(screen.getByRole('button', { name: 'Upload files' })).toBeVisible()
  await upload('one.png', 'two.png')
  await expect.poll(() => api.asked('uploadAsset').length).toBe(1)
  void goTo(`${project}_2/assets`)
  await screen.getByRole('button', { name: 'Leave' }).click()
  await expect.element(screen.getByText('two.png')).not.toBeInTheDocument()
  first.resolve(contractExample('uploadAsset'))
  await expect.poll(() => api.asked('uploadAsset').length).toBe(2)
  const [before, after] = api.asked('uploadAsset')
  expect(after!.path).toBe(before!.path)
})

test('loads nothing of a PDF file for its preview', async ({ api, open }) => {
  const [asset] = contractExample('listAssets').data
  api.answer('listAssets', { data: [{ ...asset!, mimeType: 'application/pdf' }], nextCursor: null })
  const { screen } = await open(`${project}/assets`)
  await expect.element(screen.getByText('PDF files have no preview.')).toBeVisible()
  expect(document.querySelector('.asset-preview [src]')).toBeNull()
})

/** Images without bytes. */
const images = Array.from({ length: 20 }, (_, n) => ({
  ...contractExample('listAssets').data[0]!,
  id: `ast_${n}`,
  mimeType: 'image/png',
}))
const loadsOf = ({ id }: { id: string }) =>
  performance.getEntriesByType('resource').filter(({ name }) => name.endsWith(`/${id}`))

async function setHeight(height: number): Promise<void> {
  await page.viewport(1280, height)
  onTestFinished(() => page.viewport(1280, 900))
}

test('loads at most eight previews at a time and retries one that fails a second later', async ({ api, open }) => {
  await setHeight(2_400)
  api.answer('listAssets', { data: images, nextCursor: null })
  performance.clearResourceTimings() // their buffer is small
  const { screen } = await open(`${project}/assets`)
  await expect.poll(() => screen.getByText('Preview not available.').elements().length).toBe(20)
  const loads = images.flatMap(loadsOf)
  expect(loads).toHaveLength(40)
  const during = (at: number) => loads.filter((load) => load.startTime <= at && at < load.startTime + load.duration)
  for (const { startTime } of loads) expect(during(startTime).length).toBeLessThanOrEqual(8)
  for (const [first, second] of images.map(loadsOf)) expect(second!.startTime - first!.startTime).toBeGreaterThan(990)
})

test('loads the preview of an image once it is scrolled near', async ({ api, open }) => {
  await setHeight(300)
  api.answer('listAssets', { data: images, nextCursor: null })
  performance.clearResourceTimings()
  const { screen } = await open(`${project}/assets`)
  await expect.element(screen.getByText('Preview not available.').first()).toBeInTheDocument() // tried after all others
  const last = images.at(-1)!
  expect(loadsOf(last)).toEqual([])
  screen
    .getByRole('img', { name: `Image ${last.id}` })
    .element()
    .scrollIntoView()
  await expect.poll(() => loadsOf(last)).not.toEqual([])
})
