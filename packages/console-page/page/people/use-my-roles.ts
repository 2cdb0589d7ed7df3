import { usePlace } from '../api/use-project.ts'
import { useMe } from '../api/session.ts'

/** Which roles I have where the address points; what they allow is the service's to decide, this only saves vain tries. */
export function useMyRoles() {
  const { tenant, project } = usePlace()
  const organization = useMe().tenants.find(({ id }) => id === tenant)
  const role = organization?.projects.find(({ id }) => id === project)?.role
  return { isAdmin: organization?.role === 'Admin', isOwner: role === 'Project Owner' }
}
