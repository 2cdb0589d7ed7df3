import type { MemberRecord, TeamMemberRecord } from '@gateway/api/console/users'
import type { GrantRecord } from '@gateway/api/console/projects'

/** A user's roles that affect a project. */
export interface ProjectAccess {
  id: string
  name: string
  email: string
  grant: GrantRecord['role'] | null
  /** Whether the grant includes captured prompts and answers. */
  readsContent: boolean
  /** Role in the team that owns the project. */
  team: TeamMemberRecord['role'] | null
  /** null if the user left the organization; the other roles then have no effect. */
  organization: MemberRecord['role'] | null
  /** Whether an Admin suspended the membership; the roles then have no effect, but stay. */
  isSuspended: boolean
}

/** Users who can see a project or hold a grant on it, sorted by name. */
export function projectAccess({
  grants,
  team,
  members,
}: {
  grants: GrantRecord[]
  team: TeamMemberRecord[]
  members: Omit<MemberRecord, 'secondFactor'>[]
}): ProjectAccess[] {
  const roleIn = <Role>(rows: { id: string; role: Role }[]) => new Map(rows.map(({ id, role }) => [id, role]))
  const [granted, inTeam, membership] = [roleIn(grants), roleIn(team), roleIn(members)]
  const readers = new Set(grants.filter(({ readsContent }) => readsContent).map(({ id }) => id))
  const suspended = new Set(members.filter(({ suspendedAt }) => suspendedAt !== null).map(({ id }) => id))
  const admins = members.filter(({ role }) => role === 'Admin')
  const users = new Map([...grants, ...team, ...admins].map(({ id, name, email }) => [id, { id, name, email }]))
  return [...users.values()]
    .map((user) => ({
      ...user,
      grant: granted.get(user.id) ?? null,
      readsContent: readers.has(user.id),
      team: inTeam.get(user.id) ?? null,
      organization: membership.get(user.id) ?? null,
      isSuspended: suspended.has(user.id),
    }))
    .filter(({ grant, organization }) => grant !== null || organization !== null)
    .toSorted((one, other) => one.name.localeCompare(other.name))
}

type Roles = Pick<ProjectAccess, 'grant' | 'team' | 'organization'> & Partial<Pick<ProjectAccess, 'isSuspended'>>

/** Issuer rule (rules §6.5): all three are required, and checked on every call with the key. */
export function issuesKeys({ grant, team, organization, isSuspended = false }: Roles): boolean {
  const isIssuer = grant === 'Project Owner' || grant === 'Project Consumer'
  return isIssuer && team !== null && organization !== null && !isSuspended
}

/** Sources of a user's access, most significant first. */
export function reasonsFor({ grant, team, organization, isSuspended }: Roles, teamName: string): string[] {
  if (organization === null) return ['No longer an organization member, so the grant has no effect']
  if (isSuspended) return ['Suspended, so their roles have no effect']
  return [
    ...(grant === null ? [] : ['Direct grant']),
    ...(team === null ? [] : [`${team} of ${teamName}`]),
    ...(organization === 'Admin' ? ['Organization Admin'] : []),
    ...(grant !== null && team === null ? [`not in team ${teamName}`] : []),
  ]
}

/** Which of the requirements of the issuer rule a member doesn't meet. */
export interface MissingForKeys {
  role: boolean
  team: boolean
}

/** What a member lacks to create keys, or null if nothing. */
export function missingForKeys(roles: Roles): MissingForKeys | null {
  if (issuesKeys(roles)) return null
  return { role: roles.grant === null || roles.grant === 'Project Viewer', team: roles.team === null }
}

/** What a user lacks to create keys, in words, or null if nothing. */
export function lackForKeys(roles: Roles, teamName: string): string | null {
  const missing = missingForKeys(roles)
  if (missing === null) return null
  if (roles.organization === null) return 'organization membership'
  if (roles.isSuspended) return 'a membership that is not suspended'
  const lacks = [
    ...(missing.role ? ['the Project Owner or Project Consumer role'] : []),
    ...(missing.team ? [`membership in the team ${teamName}`] : []),
  ]
  return lacks.join(' and ')
}

/** Whether a member owns the project, suspended or not. If none does, an Admin can appoint an owner (rules §7.3). */
export function hasOwner(users: Roles[]): boolean {
  return users.some(({ grant, organization }) => grant === 'Project Owner' && organization !== null)
}

/** Whether the user is the only owner who can manage access to the project. */
export function isLastOwner({ id, grant }: ProjectAccess, users: ProjectAccess[]): boolean {
  return grant === 'Project Owner' && !hasOwner(users.filter((other) => other.id !== id && !other.isSuspended))
}
