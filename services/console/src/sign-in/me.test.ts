import { expect, test } from 'vitest'
import { rolesByTenant } from './me.ts'

const rows = {
  memberships: [
    { tenant: 'ten_1', role: 'Admin' },
    { tenant: 'ten_2', role: 'Member' },
  ],
  teamMembers: [{ team: 'tea_1', role: 'Team Owner' }],
  grants: [{ project: 'prj_1', role: 'Project Owner' }],
}
const tenants = [
  { id: 'ten_1', name: 'Acme' },
  { id: 'ten_2', name: 'Others' },
]
const teams = [{ id: 'tea_1', name: 'Search', tenant: 'ten_1' }]
const projects = [{ id: 'prj_1', name: 'Summaries', tenant: 'ten_1' }]
const others = { id: 'ten_2', name: 'Others', role: 'Member', teams: [], projects: [] }

test('lists roles under their organization, with names', () => {
  expect(rolesByTenant(rows, { tenants, teams, projects })).toEqual([
    {
      id: 'ten_1',
      name: 'Acme',
      role: 'Admin',
      teams: [{ id: 'tea_1', name: 'Search', role: 'Team Owner' }],
      projects: [{ id: 'prj_1', name: 'Summaries', role: 'Project Owner' }],
    },
    others,
  ])
})

test('leaves out what was deleted while it was read', () => {
  expect(rolesByTenant(rows, { tenants: tenants.slice(1), teams: [], projects })).toEqual([others])
  expect(rolesByTenant(rows, { tenants, teams: [], projects: [] })).toEqual([
    { id: 'ten_1', name: 'Acme', role: 'Admin', teams: [], projects: [] },
    others,
  ])
})
