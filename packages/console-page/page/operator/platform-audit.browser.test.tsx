import { expect } from 'vitest'
import { contractExample, pageTest as test } from '../page-test.fixture.tsx'

const me = { ...contractExample('readMe'), platformOperator: true }
const entry = {
  ...contractExample('listPlatformAudit').data[0]!,
  action: 'grant.set',
  subject: 'prj_other',
  tenant: 'ten_other',
  user: 'usr_grace',
  userName: 'Grace',
  details: { user: 'usr_ada', role: 'Project Viewer' },
  names: { ten_other: 'Acme', prj_other: 'Search', usr_ada: 'Ada' },
}

test('an operator reads names instead of IDs, and filters by organization and user', async ({ api, open }) => {
  api.answer('readMe', me)
  api.answer('listPlatformAudit', { data: [entry], nextCursor: null })
  const { screen, address } = await open('/operator/audit')
  const action = screen.getByRole('cell', { name: /^granted Ada the role Project Viewer on Search/ })
  await expect.element(action).toBeVisible()
  await screen.getByRole('link', { name: 'Show all entries of Acme' }).click()
  await expect.poll(() => api.asked('listPlatformAudit').at(-1)?.query).toMatchObject({ tenant: 'ten_other' })
  await screen.getByRole('link', { name: 'Show all entries by Grace' }).click()
  await expect.poll(() => address().search).toEqual({ tenant: 'ten_other', user: 'usr_grace' })
  await expect.element(screen.getByRole('button', { name: 'Remove filter organization: Acme' })).toBeVisible()
  await screen.getByRole('button', { name: 'Remove filter user: Grace' }).click()
  await expect.poll(() => address().search).toEqual({ tenant: 'ten_other' })
  expect(screen.getByRole('link', { name: 'Download CSV' }).element().getAttribute('href')).toContain(
    'tenant=ten_other',
  )
})
