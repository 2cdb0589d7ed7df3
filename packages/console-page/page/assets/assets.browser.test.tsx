import { expect } from 'vitest'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

const pngHead = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

test('leaving during an upload asks first, and the next screen reports a failure', async ({ api, open }) => {
  const answer = Promise.withResolvers<ReturnType<typeof contractExample<'uploadAsset'>>>()
  api.answer('uploadAsset', answer.promise)
  const { screen, address, goTo } = await open(`${project}/assets`)
  await expect.element(screen.getByRole('button', { name: 'Upload files' })).toBeVisible()
  const dataTransfer = new DataTransfer()
  dataTransfer.items.add(new File([new Uint8Array(pngHead)], 'dot.png'))
  window.dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }))
  await expect.poll(() => api.asked('uploadAsset').length).toBe(1)

  void goTo(`${project}/flows`)
  const dialog = screen.getByRole('dialog', { name: 'Uploads in progress' })
  await dialog.getByRole('button', { name: 'Stay' }).click()
  expect(address().pathname).toBe(`${project}/assets`)
  void goTo(`${project}/flows`)
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await expect.element(screen.getByRole('heading', { name: 'Flows', level: 1 })).toBeVisible()
  answer.reject(new TypeError('Failed to fetch'))
  await expect
    .element(screen.getByText('dot.png was not uploaded. The service could not be reached.').first())
    .toBeVisible()
})
