import { useMe } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { Copyable } from '../parts/copyable.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { OrganizationProjects } from './organization-projects.tsx'

/** Every project that I can see, by organization. */
export function ProjectsScreen() {
  const { tenants, email, id } = useMe()
  return (
    <Screen title="Projects">
      {tenants.length === 0 && (
        <EmptyState title="You belong to no organization yet" action={<Copyable text={id} label="Copy my id" />}>
          Ask an administrator to add you, by your e-mail {email} or by your id.
        </EmptyState>
      )}
      {tenants.map((tenant) => (
        <OrganizationProjects key={tenant.id} tenant={tenant} />
      ))}
    </Screen>
  )
}
