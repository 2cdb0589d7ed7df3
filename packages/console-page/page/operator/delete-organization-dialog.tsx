import { useQuery } from '@tanstack/react-query'
import type { TenantRecord } from '@gateway/api/console/people'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useMe } from '../api/session.ts'
import { useChange } from '../api/use-change.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { RefusalBox } from '../parts/refusal-box.tsx'

/** Says what goes with it, and what stands against it as far as one may see that; the service refuses it while something does. */
export function DeleteOrganizationDialog({ of: { id, name }, onClose }: { of: TenantRecord; onClose: () => void }) {
  const isMine = useMe().tenants.some((tenant) => tenant.id === id)
  const projects = useQuery({
    ...readingAll('/api/v2/tenants/{tenant}/projects', { params: { tenant: id } }),
    enabled: isMine,
  })
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}', { params: { tenant: id } }),
    `${name} is deleted.`,
    ['/api/v2/tenants', '/api/v2/me'],
  )
  return (
    <FormDialog
      title={`Delete ${name}?`}
      submit="Delete it"
      cancel="Keep it"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>
        Its teams and memberships end, and its access tokens stop working, for ever. Its audit log stays. It is refused
        while the organization has a project or a key.
      </p>
      {projects.data && projects.data.length > 0 && (
        <div className="notice">Its projects are: {projects.data.map((project) => project.name).join(', ')}.</div>
      )}
      {!isMine && <div className="notice">You don't belong to it, so its projects and keys are not shown to you.</div>}
      <RefusalBox error={projects.error} />
    </FormDialog>
  )
}
