import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { readingAll } from '../api/queries.ts'
import { useMe, useOwningTeam, useScope } from '../api/session.ts'
import { missingForKeys, type MissingForKeys } from '../users/project-access.ts'

/**
 * What the user lacks to create keys in the project of the URL, known before they fill in a form. null: nothing, or not
 * known yet. The API decides in any case (rules §6.5).
 */
export function useMissingKeyRight(): MissingForKeys | null {
  const { tenant, project } = useScope()
  const me = useMe().tenants.find(({ id }) => id === tenant)
  const team = useOwningTeam().id
  if (me === undefined || team === undefined) return null
  return missingForKeys({
    organization: me.role,
    grant: me.projects.find(({ id }) => id === project)?.role ?? null,
    team: me.teams.find(({ id }) => id === team)?.role ?? null,
  })
}

/** Names what the user lacks to create keys and who can grant it. */
export function MissingKeyRight({ of: { role, team } }: { of: MissingForKeys }) {
  const { tenant, project } = useScope()
  const me = useMe().tenants.find(({ id }) => id === tenant)
  const params = { tenant, project }
  const grants = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/grants', { params }))
  const members = useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
  const owning = useOwningTeam()
  const owners = namesOf(grants.data, 'Project Owner')
  const admins = namesOf(members.data, 'Admin')
  return (
    <div className="notice stack tight">
      <p>You can't create keys in this project yet.</p>
      <ul>
        {role && (
          <li>
            You need the role Project Owner or Project Consumer. Ask {owners ?? 'a Project Owner'}
            {owners && ' (Project Owner)'} to grant it.
          </li>
        )}
        {team && (
          <li>
            You need to be in the team {owning.name ?? 'that owns the project'}.{' '}
            {me?.role === 'Admin' && owning.id !== undefined ? (
              <Link to="/organizations/$tenant/teams/$team" params={{ tenant, team: owning.id }}>
                Add yourself to it
              </Link>
            ) : (
              `Ask ${admins ?? 'an Admin of the organization'}${admins === null ? '' : ' (Admin)'} to add you.`
            )}
          </li>
        )}
      </ul>
    </div>
  )
}

const NAMED = 3
const either = new Intl.ListFormat('en', { type: 'disjunction' })
function namesOf(users: { name: string; role: string }[] | undefined, role: string): string | null {
  const names = (users ?? []).filter((each) => each.role === role).map(({ name }) => name)
  return names.length === 0 ? null : either.format(names.slice(0, NAMED))
}
