import { useScope, useMe } from '../api/session.ts'

/** The user's roles for the URL's organization and project. Only hides actions; the API enforces permissions. */
export function useMyRoles() {
  const { tenant, project } = useScope()
  const organization = useMe().tenants.find(({ id }) => id === tenant)
  const role = organization?.projects.find(({ id }) => id === project)?.role
  return {
    isAdmin: organization?.role === 'Admin',
    isOwner: role === 'Project Owner',
    hasGrant: role !== undefined && role !== null,
  }
}
