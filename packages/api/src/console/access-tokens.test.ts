import { expect, test } from 'vitest'
import { projectTokenPermission, tenantTokenPermission } from './access-tokens.ts'

test('no token can hand out access', () => {
  const all: string[] = [...tenantTokenPermission.options, ...projectTokenPermission.options]
  const handingOut = [
    'users.manage',
    'teams.manage',
    'grants.manage',
    'owners.appoint',
    'tokens.manage',
    'project-tokens.manage',
  ]
  expect(all.filter((permission) => handingOut.includes(permission))).toEqual([])
})
