import { expect, test } from 'vitest'
import { projectTokenPermission, tenantTokenPermission } from './access-tokens.ts'

test('no permission of a token can grant access', () => {
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
