import { useState } from 'react'
import type { MemberRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { RoleField } from '../users/role-field.tsx'
import { tenantRoleLabels } from '../users/role-labels.ts'
import { useChange } from '../api/use-change.ts'

export function MemberRoleDialog({
  of: { id, name, role: before },
  onClose,
}: {
  of: MemberRecord
  onClose: () => void
}) {
  const { tenant } = useScope()
  const [role, setRole] = useState(before)
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/members/{user}', { params: { tenant, user: id }, body: { role } }),
    `${name} is now ${role}.`,
  )
  return (
    <FormDialog
      title={`Change role of ${name}`}
      submit="Change role"
      isReady={role !== before}
      change={change}
      onClose={onClose}
    >
      <RoleField words={tenantRoleLabels} value={role} onChange={setRole} />
      {before === 'Admin' && role === 'Member' && (
        <p className="notice">
          {name} can no longer manage users, teams and projects. Their keys and grants don't change.
        </p>
      )}
    </FormDialog>
  )
}
