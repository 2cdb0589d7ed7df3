import type { MemberRecord, TeamMemberRecord } from '@gateway/api/console/people'
import type { GrantRecord } from '@gateway/api/console/projects'

/** A person's roles that affect a project. */
export interface ProjectAccess {
  id: string
  name: string
  email: string
  grant: GrantRecord['role'] | null
  /** Role in the team that owns the project. */
  team: TeamMemberRecord['role'] | null
  /** null if the person left the organization; the other roles then have no effect. */
  organization: MemberRecord['role'] | null
}

/** People who can see a project or hold a grant on it, sorted by name. */
export function projectAccess({
  grants,
  team,
  members,
}: {
  grants: GrantRecord[]
  team: TeamMemberRecord[]
  members: MemberRecord[]
}): ProjectAccess[] {
  const roleIn = <Role>(rows: { id: string; role: Role }[]) => new Map(rows.map(({ id, role }) => [id, role]))
  const [granted, inTeam, membership] = [roleIn(grants), roleIn(team), roleIn(members)]
  const admins = members.filter(({ role }) => role === 'Admin')
  const people = new Map([...grants, ...team, ...admins].map(({ id, name, email }) => [id, { id, name, email }]))
  return [...people.values()]
    .map((person) => ({
      ...person,
      grant: granted.get(person.id) ?? null,
      team: inTeam.get(person.id) ?? null,
      organization: membership.get(person.id) ?? null,
    }))
    .filter(({ grant, organization }) => grant !== null || organization !== null)
    .toSorted((one, other) => one.name.localeCompare(other.name))
}

type Roles = Pick<ProjectAccess, 'grant' | 'team' | 'organization'>

/** Issuer rule (rules §6.5): all three are required, and checked on every call with the key. */
export function issuesKeys({ grant, team, organization }: Roles): boolean {
  return organization !== null && team !== null && (grant === 'Project Owner' || grant === 'Project Consumer')
}

/** Sources of a person's access, most significant first. */
export function reasonsFor({ grant, team, organization }: Roles, teamName: string): string[] {
  if (organization === null) return ['No longer an organization member, so the grant has no effect']
  return [
    ...(grant === null ? [] : ['Direct grant']),
    ...(team === null ? [] : [`${team} of ${teamName}`]),
    ...(organization === 'Admin' ? ['Organization Admin'] : []),
    ...(grant !== null && team === null ? [`not in team ${teamName}`] : []),
  ]
}

/** What a person lacks to create keys, or null if nothing. */
export function lackForKeys(roles: Roles, teamName: string): string | null {
  if (issuesKeys(roles)) return null
  if (roles.organization === null) return 'organization membership'
  const lacks = [
    ...(roles.grant === null || roles.grant === 'Project Viewer' ? ['the Project Owner or Project Consumer role'] : []),
    ...(roles.team === null ? [`membership in the team ${teamName}`] : []),
  ]
  return lacks.join(' and ')
}

/** Whether a current member owns the project. If not, an Admin can appoint an owner (rules §7.3). */
export function hasOwner(people: Roles[]): boolean {
  return people.some(({ grant, organization }) => grant === 'Project Owner' && organization !== null)
}
