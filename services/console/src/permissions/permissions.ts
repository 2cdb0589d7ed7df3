import type { Roles } from './roles.ts'

// Permissions in the console, all in this table (rules §7.3).
//   R1  Nothing inside a tenant is permitted without a membership: team roles and grants alone have no effect.
//   R2  A resource the user can't see gets 404, as if it never existed; an action they may not take on a visible one,
//       403.
//   R3  The platform operator manages products, fundings and corrections, and sees no more of a tenant than these need.

interface PermissionRow {
  /** Ends the sentence "This needs …". */
  need: string
  grantedTo: (roles: Roles) => boolean
}

const isOperator = (s: Roles) => s.platformOperator
const isMember = (s: Roles) => s.tenant !== null // R1
const isAdmin = (s: Roles) => s.tenant === 'Admin'
const holdsGrant = (s: Roles) => isMember(s) && s.project !== null

const operator = { need: 'the platform operator role', grantedTo: isOperator }
const admin = { need: 'the role Admin of the organization', grantedTo: isAdmin }
const member = { need: 'a membership of the organization', grantedTo: isMember }
const anyGrant = { need: 'a grant on the project', grantedTo: holdsGrant }

export const permissions = {
  'tenants.create': operator,
  'tenants.delete': operator,
  'tenants.change': admin,
  'operators.manage': operator,
  'installation-users.manage': operator,
  'passwords.reset': operator,
  'users.read': member,
  'users.manage': admin,
  'teams.read': member,
  'teams.manage': admin,
  'budgets.manage': admin,
  'audit.read': admin,
  'platform-audit.read': operator,
  'providers.read': operator,
  'providers.test': operator,
  'wallets.read': operator,
  'revenue.read': operator,
  'projects.read': member,
  'projects.manage': admin,
  // Which keys it applies to: see `visibleKeys`.
  'keys.manage': {
    need: 'the role Admin of the organization, or Project Owner on the project',
    grantedTo: (s) => isAdmin(s) || (isMember(s) && s.project === 'Project Owner'),
  },
  'tokens.manage': admin,
  // Of all projects, without the addresses.
  'webhooks.manage': admin,
  'project-tokens.manage': {
    need: 'the role Project Owner on the project',
    grantedTo: (s) => isMember(s) && s.project === 'Project Owner',
  },
  'projects.change': {
    need: 'the role Project Owner on the project',
    grantedTo: (s) => isMember(s) && s.project === 'Project Owner',
  },
  'quotas.read': { ...anyGrant, grantedTo: (s) => holdsGrant(s) || isOperator(s) },
  'quotas.change': operator,
  'assignments.read': { ...anyGrant, grantedTo: (s) => isMember(s) && seesProject(s) },
  'assignments.manage': admin,
  'grants.read': { ...anyGrant, grantedTo: (s) => isMember(s) && seesProject(s) },
  'grants.manage': {
    need: 'the role Project Owner on the project (where none is left, an Admin appoints one)',
    grantedTo: (s) => isMember(s) && s.project === 'Project Owner',
  },
  // Only if the project has no owner left: see `authorizeGrant`.
  'owners.appoint': {
    need: 'the role Admin of the organization, or the platform operator role',
    grantedTo: (s) => isAdmin(s) || isOperator(s),
  },
  'usage.read': anyGrant,
  // No role implies it: see grants.ts.
  'content.read': {
    need: 'the right to read captured content, which a Project Owner of the project gives',
    grantedTo: (s) => holdsGrant(s) && s.readsContent === true,
  },
  'notices.manage': {
    need: 'the role Project Owner on the project',
    grantedTo: (s) => isMember(s) && s.project === 'Project Owner',
  },
  'wallet.read': { ...anyGrant, grantedTo: (s) => holdsGrant(s) || isOperator(s) },
  'wallet.fund': operator,
  'wallet.correct': operator,
  'products.manage': operator,
  // A user without it gets `not_found` (flows §1.2): see `mayUseSandboxes`.
  'sandboxes.use': {
    need: 'the role Project Owner or Project Consumer on the project',
    grantedTo: (s) => isMember(s) && (s.project === 'Project Owner' || s.project === 'Project Consumer'),
  },
} as const satisfies Record<string, PermissionRow>

export type Permission = keyof typeof permissions

/** Whether roles have a permission. The roles of a token have only the permissions it lists. */
export function holds(roles: Roles, permission: Permission): boolean {
  const only: readonly Permission[] | undefined = roles.only
  return (only === undefined || only.includes(permission)) && permissions[permission].grantedTo(roles)
}

/** R2 */
export function seesTenant(roles: Roles): boolean {
  return isMember(roles) || isOperator(roles)
}

/** R2: a member sees the projects of their teams and grants; an Admin sees all. */
export function seesProject(roles: Roles): boolean {
  if (isOperator(roles)) return true
  return isMember(roles) && (isAdmin(roles) || roles.team !== null || roles.project !== null)
}

/**
 * The issuer rule: issuing a key requires all three roles; being an Admin alone is not enough (rules §6.5).
 */
export function mayIssueKeys({ tenant, team, project }: Roles): boolean {
  return tenant !== null && team !== null && (project === 'Project Owner' || project === 'Project Consumer')
}
