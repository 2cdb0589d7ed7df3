import { expect } from 'vitest'
import { contractExample, pageTest as test, project } from '../page-test.fixture.tsx'

test('a statement that does not reconcile shows entries as a number and the rest in dollars', async ({ api, open }) => {
  const differences = [
    { what: 'journal entries of the wallet', expected: 1_234, found: 1_233 },
    { what: 'charged to the wallet', expected: 2_500_000, found: 2_000_000 },
  ]
  api.answer('readStatement', { ...contractExample('readStatement'), reconciled: false, differences })
  const { screen } = await open(`${project}/statement`)
  await expect.element(screen.getByText('journal entries of the wallet: 1,234 expected, 1,233 found')).toBeVisible()
  await expect.element(screen.getByText('charged to the wallet: $2.50 expected, $2.00 found')).toBeVisible()
})
