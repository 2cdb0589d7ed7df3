import { useState } from 'react'
import type { MemberRecord } from '@gateway/api/console/people'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { RoleField } from '../people/role-field.tsx'
import { tenantRoleWords } from '../people/role-words.ts'
import { useChange } from '../api/use-change.ts'

export function MemberRoleDialog({
  of: { id, name, role: before },
  onClose,
}: {
  of: MemberRecord
  onClose: () => void
}) {
  const { tenant } = usePlace()
  const [role, setRole] = useState(before)
  const change = useChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/members', { params: { tenant }, body: { person: id, role } }),
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
      <RoleField words={tenantRoleWords} value={role} onChange={setRole} />
      {before === 'Admin' && role === 'Member' && (
        <p className="notice">
          {name} can no longer manage people, teams and projects. Their keys and grants don't change.
        </p>
      )}
    </FormDialog>
  )
}
