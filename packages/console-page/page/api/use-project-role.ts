import type { ProjectRole } from '@gateway/api/console/fields'
import { useMe } from './session.ts'
import { useScope } from './use-project.ts'

/** The user's role in the project of the URL, or null without a grant. */
export function useProjectRole(): ProjectRole | null {
  const { tenant, project } = useScope()
  const projects = useMe().tenants.find(({ id }) => id === tenant)?.projects
  return projects?.find(({ id }) => id === project)?.role ?? null
}
