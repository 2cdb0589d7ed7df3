import { expect } from 'vitest'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

test('deleting a project leads to the list of projects, before the deleted one is read again', async ({
  api,
  open,
}) => {
  const wallet = Promise.withResolvers<ReturnType<typeof contractExample<'readWallet'>>>()
  const { screen, address } = await open(`${project}/settings`)
  await screen.getByRole('button', { name: 'Delete project' }).click()
  const dialog = screen.getByRole('dialog', { name: /^Delete project/ })
  api.answer('deleteProject', () => {
    api.answer('listProjects', { data: [], nextCursor: null })
    api.answer('readWallet', wallet.promise)
    return undefined
  })
  await dialog.getByRole('button', { name: 'Delete project' }).click()
  await expect.poll(() => address().pathname).toBe(`/organizations/${exampleIds.tenant}/projects`)
  await expect.element(screen.getByText(/^Project .* deleted\.$/).first()).toBeVisible()
})
