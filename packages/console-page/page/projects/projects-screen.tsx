import { useMe } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Appointments } from './appointments.tsx'
import { OrganizationProjects } from './organization-projects.tsx'

/** Projects the user can see, by organization. */
export function ProjectsScreen() {
  const { tenants, email } = useMe()
  return (
    <Screen title="Projects">
      <Appointments />
      {tenants.length === 0 && (
        <EmptyState title="You aren't in an organization yet">
          Ask an Admin of your organization to invite {email}.
        </EmptyState>
      )}
      {tenants
        .filter(({ needsSecondFactor }) => !needsSecondFactor)
        .map((tenant) => (
          <OrganizationProjects key={tenant.id} tenant={tenant} />
        ))}
    </Screen>
  )
}
