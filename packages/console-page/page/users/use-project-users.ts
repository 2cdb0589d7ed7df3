import { useQuery } from '@tanstack/react-query'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { projectAccess } from './project-access.ts'

/** Users with access to the project, and the team that owns it. */
export function useProjectUsers() {
  const { tenant, project } = useScope()
  const params = { tenant, project }
  const grants = useQuery(readingAll('/api/v2/tenants/{tenant}/projects/{project}/grants', { params }))
  const members = useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } }))
  const projects = useQuery(readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant } }))
  const teams = useQuery(readingAll('/api/v2/tenants/{tenant}/teams', { params: { tenant } }))
  const team = projects.data?.find(({ id }) => id === project)?.team ?? ''
  const inTeam = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/teams/{team}/members', { params: { tenant, team } }),
    enabled: team !== '',
  })
  const isThere = grants.data && members.data && inTeam.data
  return {
    error: grants.error ?? members.error ?? projects.error ?? inTeam.error,
    team: { id: team, name: teams.data?.find(({ id }) => id === team)?.name ?? 'of the project' },
    users: isThere ? projectAccess({ grants: grants.data, members: members.data, team: inTeam.data }) : undefined,
  }
}
