import { expect } from 'vitest'
import { exampleIds } from '@gateway/api/example-ids'
import { pageTest as test } from '../page-test.fixture.tsx'

const kept = `playground:key:${exampleIds.user}:${exampleIds.project}`

test.for([
  ['signOut', 'Sign out', null],
  ['signOutEverywhere', 'Sign out everywhere', 'Sign out everywhere'],
] as const)(
  '%s revokes the key of the playground first, and clears it from the tab',
  async ([ending, button, confirm], { api, open }) => {
    api.answer(ending, new Promise(() => {})) // its answer would load the page of the test again
    sessionStorage.setItem(
      kept,
      JSON.stringify({ secret: 'svc_x', made: { tenant: exampleIds.tenant, id: exampleIds.key, prefix: 'svc_x' } }),
    )
    const { screen } = await open('/account')
    await screen.getByRole('button', { name: button, exact: true }).click()
    if (confirm !== null) await screen.getByRole('dialog').getByRole('button', { name: confirm }).click()
    await expect.poll(() => api.asked(ending).length).toBe(1)
    expect(api.asked('revokeKey').length).toBe(1)
    expect(sessionStorage.getItem(kept)).toBeNull()
  },
)
