import { describe, expect, test } from 'vitest'
import { projectTokenPermission, tenantTokenPermission } from '@gateway/api/console/access-tokens'
import { holds, mayIssueKeys, permissions, seesProject, seesTenant, type Permission } from './permissions.ts'
import type { Roles } from './roles.ts'

const anonymous: Roles = { platformOperator: false, tenant: null, team: null, project: null }
const users = {
  outsider: anonymous,
  operator: { ...anonymous, platformOperator: true },
  admin: { ...anonymous, tenant: 'Admin' },
  member: { ...anonymous, tenant: 'Member' },
  inTeam: { ...anonymous, tenant: 'Member', team: 'Team Owner' },
  viewer: { ...anonymous, tenant: 'Member', project: 'Project Viewer' },
  consumer: { ...anonymous, tenant: 'Member', project: 'Project Consumer' },
  owner: { ...anonymous, tenant: 'Member', project: 'Project Owner' },
  reader: { ...anonymous, tenant: 'Member', project: 'Project Viewer', readsContent: true },
  formerMember: { ...anonymous, team: 'Team Owner', project: 'Project Owner' },
} satisfies Record<string, Roles>
type Who = keyof typeof users

const everyMember: Who[] = ['admin', 'member', 'inTeam', 'viewer', 'consumer', 'owner', 'reader']
const anyGrant: Who[] = ['viewer', 'consumer', 'owner', 'reader']
const whoSeesProject: Who[] = ['admin', 'inTeam', ...anyGrant]

// The whole table restated: who has each permission (rules §7.3).
const granted: Record<Permission, Who[]> = {
  'tenants.create': ['operator'],
  'tenants.delete': ['operator'],
  'tenants.change': ['admin'],
  'operators.manage': ['operator'],
  'installation-users.manage': ['operator'],
  'passwords.reset': ['operator'],
  'users.read': everyMember,
  'users.manage': ['admin'],
  'teams.read': everyMember,
  'teams.manage': ['admin'],
  'budgets.manage': ['admin'],
  'audit.read': ['admin'],
  'platform-audit.read': ['operator'],
  'providers.read': ['operator'],
  'providers.test': ['operator'],
  'wallets.read': ['operator'],
  'revenue.read': ['operator'],
  'webhooks.manage': ['admin'],
  'projects.read': everyMember,
  'projects.manage': ['admin'],
  'quotas.read': ['operator', ...anyGrant],
  'quotas.change': ['operator'],
  'assignments.read': whoSeesProject,
  'assignments.manage': ['admin'],
  'grants.read': whoSeesProject,
  'grants.manage': ['owner'],
  'owners.appoint': ['admin', 'operator'],
  'usage.read': anyGrant,
  'content.read': ['reader'],
  'notices.manage': ['owner'],
  'wallet.read': ['operator', ...anyGrant],
  'wallet.fund': ['operator'],
  'wallet.correct': ['operator'],
  'products.manage': ['operator'],
  'projects.change': ['owner'],
  'keys.manage': ['admin', 'owner'],
  'tokens.manage': ['admin'],
  'project-tokens.manage': ['owner'],
  'sandboxes.use': ['consumer', 'owner'],
}

const who = (holds: (roles: Roles) => boolean) =>
  (Object.keys(users) as Who[]).filter((each) => holds(users[each])).toSorted()

// spec: 5/s9
test.for(Object.keys(permissions) as Permission[])(
  '%s is granted to exactly the roles of the table [not_permitted]',
  (permission) => {
    expect(who(permissions[permission].grantedTo)).toEqual(granted[permission].toSorted())
  },
)

describe('a token', () => {
  const kinds = [
    { only: tenantTokenPermission.options, roles: users.admin },
    { only: projectTokenPermission.options, roles: users.owner },
  ]
  test.for(kinds)('can list only permissions that its creator must have: $only', ({ only, roles }) => {
    for (const permission of only) expect([permission, holds(roles, permission)]).toEqual([permission, true])
  })
  test.for(kinds)('has no permission that it does not list: $only', ({ only, roles }) => {
    for (const permission of Object.keys(permissions) as Permission[])
      expect([permission, holds({ ...roles, only: only.slice(0, 1) }, permission)]).toEqual([
        permission,
        permission === only[0],
      ])
  })
})

describe('visibility [not_found]', () => {
  test('a tenant is visible to its members and the operator only', () => {
    expect(who(seesTenant)).toEqual([...everyMember, 'operator'].toSorted())
  })
  test('a project is visible to Admins, its team, users with a grant and the operator only', () => {
    expect(who(seesProject)).toEqual([...whoSeesProject, 'operator'].toSorted())
  })
})

describe('the issuer rule [key_issuer_denied]', () => {
  const all: Roles = { platformOperator: false, tenant: 'Member', team: 'Team Member', project: 'Project Consumer' }
  // spec: 5/s3
  test('is satisfied by membership, team membership and a grant together', () => {
    expect(mayIssueKeys(all)).toBe(true)
    expect(mayIssueKeys({ ...all, tenant: 'Admin', team: 'Team Owner', project: 'Project Owner' })).toBe(true)
  })
  // spec: 2.1/s2, 5/s3, 5/s4, 5/s5, 5/s6
  test.for([
    { tenant: null },
    { team: null },
    { project: null },
    { project: 'Project Viewer' },
    { team: null, tenant: 'Admin', platformOperator: true },
  ] as Partial<Roles>[])('is not satisfied with %j', (lacking) => {
    expect(mayIssueKeys({ ...all, ...lacking })).toBe(false)
  })
})
