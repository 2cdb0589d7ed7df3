import { expect } from 'vitest'
import { refuse } from '@gateway/api/refusal'
import { choose, contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

const [owner] = contractExample('listMembers').data
const bea = { ...owner!, id: 'usr_2', name: 'Bea', email: 'bea@example.com', role: 'Member' as const }
const [grant] = contractExample('listGrants').data
const granted = { ...grant!, id: bea.id, name: bea.name, email: bea.email, role: 'Project Consumer' as const }

test('a user whose role stays can be added to the team alone', async ({ api, open }) => {
  api.answer('listMembers', { data: [owner!, bea], nextCursor: null })
  api.answer('listGrants', { data: [granted], nextCursor: null })
  const { screen } = await open(`${project}/users`)
  await screen.getByRole('button', { name: /Bea$/ }).click()
  await screen.getByRole('menuitem', { name: 'Change role' }).click()
  const dialog = screen.getByRole('dialog', { name: 'Change role of Bea' })
  await dialog.getByRole('checkbox', { name: /Also add to the team/ }).click()
  await dialog.getByRole('button', { name: 'Change role' }).click()
  await expect.poll(() => api.asked('setTeamMember').map(({ body }) => body.user)).toEqual([bea.id])
  expect(api.asked('setGrant')).toEqual([])
})

test('a role that was given is shown although the team refused, and the team can be tried again', async ({
  api,
  open,
}) => {
  api.answer('listMembers', { data: [owner!, bea], nextCursor: null })
  api.answer('setTeamMember', refuse('overloaded', {}))
  const { screen } = await open(`${project}/users`)
  await screen.getByRole('button', { name: 'Add user' }).first().click()
  const dialog = screen.getByRole('dialog', { name: 'Add user' })
  await dialog.getByRole('combobox', { name: 'User' }).click()
  await screen.getByRole('option', { name: /Bea/ }).click()
  api.answer('listGrants', { data: [granted], nextCursor: null })
  await dialog.getByRole('button', { name: 'Add user' }).click()
  await expect.element(dialog.getByRole('alert')).toBeVisible()
  api.answer('setTeamMember', contractExample('setTeamMember'))
  await dialog.getByRole('button', { name: 'Add user' }).click()
  await expect.element(dialog).not.toBeInTheDocument()
  expect([api.asked('setGrant').length, new Set(api.asked('setTeamMember').map(({ body }) => body.user))]).toEqual([
    1,
    new Set([bea.id]),
  ])
})

test('the last active owner is warned before they give up the role', async ({ api, open }) => {
  const suspended = { ...bea, suspendedAt: '2026-11-20T09:00:00.000Z' }
  const asOwner = { role: 'Project Owner' as const }
  api.answer('listMembers', { data: [owner!, suspended], nextCursor: null })
  api.answer('listGrants', {
    data: [
      { ...granted, ...asOwner },
      { ...granted, id: owner!.id, name: owner!.name, ...asOwner },
    ],
    nextCursor: null,
  })
  const { screen } = await open(`${project}/users`)
  await screen.getByRole('button', { name: `Actions for ${owner!.name}` }).click()
  await screen.getByRole('menuitem', { name: 'Change role' }).click()
  const dialog = screen.getByRole('dialog', { name: /^Change role of/ })
  const warning = dialog.getByText(/There is no other active Project Owner/)
  await expect.element(warning).not.toBeInTheDocument()
  await choose(dialog.getByRole('combobox', { name: 'Role' }), 'Project Consumer')
  await expect.element(warning).toBeVisible()
})
