import type { MemberRecord, TeamMemberRecord } from '@gateway/api/console/people'
import type { GrantRecord } from '@gateway/api/console/projects'

/** Which roles somebody has that bear on a project. */
export interface ProjectAccess {
  id: string
  name: string
  email: string
  grant: GrantRecord['role'] | null
  /** In the team that owns the project. */
  team: TeamMemberRecord['role'] | null
  /** null: no member any more, and all else is worth nothing. */
  organization: MemberRecord['role'] | null
}

/** Everybody who sees a project, or holds a grant on it, by name. */
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

/** The issuer rule (rules §6.5): all three are needed, and asked for again at every call with the key. */
export function issuesKeys({ grant, team, organization }: Roles): boolean {
  return organization !== null && team !== null && (grant === 'Project Owner' || grant === 'Project Consumer')
}

/** Why somebody sees the project, most weighty first. */
export function reasonsFor({ grant, team, organization }: Roles, teamName: string): string[] {
  if (organization === null) return ['no member of the organization any more, so the grant is worth nothing']
  return [
    ...(grant === null ? [] : ['a grant']),
    ...(team === null ? [] : [`${team} of ${teamName}`]),
    ...(organization === 'Admin' ? ['Admin of the organization'] : []),
    ...(grant !== null && team === null ? [`not in the team ${teamName}`] : []),
  ]
}

/** What somebody needs before they can make keys; null: nothing. */
export function lackForKeys(roles: Roles, teamName: string): string | null {
  if (issuesKeys(roles)) return null
  if (roles.organization === null) return 'a membership'
  const lacks = [
    ...(roles.grant === null || roles.grant === 'Project Viewer' ? ['Project Owner or Project Consumer'] : []),
    ...(roles.team === null ? [`a place in the team ${teamName}`] : []),
  ]
  return lacks.join(', and ')
}

/** An Admin appoints an owner of a project that has none who is a member (rules §7.3). */
export function hasOwner(people: Roles[]): boolean {
  return people.some(({ grant, organization }) => grant === 'Project Owner' && organization !== null)
}
