import type { ProjectRole } from '@gateway/api/console/fields'
import { useMe } from './session.ts'
import { useScope } from './use-project.ts'

/** What anyone who is signed in may do in the project of the address; null: they have no grant on it. */
export function useProjectRole(): ProjectRole | null {
  const { tenant, project } = useScope()
  const projects = useMe().tenants.find(({ id }) => id === tenant)?.projects
  return projects?.find(({ id }) => id === project)?.role ?? null
}
