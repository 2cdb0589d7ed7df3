import { expect } from 'vitest'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, pageTest as test } from '../page-test.fixture.tsx'

test('removing a member names paused keys and ends them, too', async ({ api, open }) => {
  const [member] = contractExample('listMembers').data
  const [key] = contractExample('listKeys').data
  api.answer('listKeys', { data: [{ ...key!, name: 'Nightly', state: 'Paused' }], nextCursor: null })
  const { screen } = await open(`/organizations/${exampleIds.tenant}/members`)
  await screen
    .getByRole('button', { name: new RegExp(`${member!.name}$`) })
    .first()
    .click()
  await screen.getByRole('menuitem', { name: 'Remove' }).click()
  const dialog = screen.getByRole('dialog', { name: `Remove ${member!.name}?` })
  await expect.element(dialog.getByText(/Nightly \(paused\)/)).toBeVisible()
  await dialog.getByRole('button', { name: 'Remove member' }).click()
  await expect.poll(() => api.asked('removeMember').at(-1)?.query['end']).toContain('keys')
})
