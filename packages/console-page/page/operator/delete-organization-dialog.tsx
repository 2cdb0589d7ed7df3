import { useQuery } from '@tanstack/react-query'
import type { TenantRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useMe } from '../api/session.ts'
import { useChange } from '../api/use-change.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'

/** Confirms deleting an organization and lists the projects that block it, as far as the user can see them. */
export function DeleteOrganizationDialog({ of: { id, name }, onClose }: { of: TenantRecord; onClose: () => void }) {
  const isMine = useMe().tenants.some((tenant) => tenant.id === id)
  const projects = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant: id } }),
    enabled: isMine,
  })
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}', { params: { tenant: id } }),
    `${name} deleted.`,
    ['/api/v2/tenants', '/api/v2/me'],
  )
  return (
    <FormDialog title={`Delete ${name}?`} submit="Delete organization" isDanger change={remove} onClose={onClose}>
      <p>
        This permanently deletes its teams and memberships and revokes its access tokens. The audit log is kept. An
        organization that has projects or keys can't be deleted.
      </p>
      {projects.data && projects.data.length > 0 && (
        <div className="notice">Projects: {projects.data.map((project) => project.name).join(', ')}.</div>
      )}
      {!isMine && <div className="notice">You aren't a member, so its projects and keys aren't shown.</div>}
      <RefusalBox error={projects.error} />
    </FormDialog>
  )
}
