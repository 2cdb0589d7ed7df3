import { expect } from 'vitest'
import { exampleIds } from '@gateway/api/example-ids'
import { contractExample, pageTest as test } from '../page-test.fixture.tsx'

test('an audit log names its keys, and reads only those', async ({ api, open }) => {
  const [entry] = contractExample('listAudit').data
  api.answer('listAudit', { data: [{ ...entry!, action: 'key.revoke', details: {} }], nextCursor: null })
  const [key] = contractExample('listKeys').data
  const { screen } = await open(`/organizations/${exampleIds.tenant}/audit?subject=${exampleIds.key}`)
  await expect.element(screen.getByRole('cell', { name: new RegExp(`^revoked the key ${key!.name} `) })).toBeVisible()
  await expect.element(screen.getByRole('button', { name: `Remove filter target: ${key!.name}` })).toBeVisible()
  expect(new Set(api.asked('listKeys').map(({ query }) => query['ids']))).toEqual(new Set([exampleIds.key]))
})
