import { useState } from 'react'
import type { TeamMemberRecord } from '@gateway/api/console/users'
import type { TeamRole } from '@gateway/api/console/fields'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { UserField } from '../users/user-field.tsx'
import { RoleField } from '../users/role-field.tsx'
import { teamRoleLabels } from '../users/role-labels.ts'
import { useChange } from '../api/use-change.ts'
import { useMembers } from './use-organization.ts'

/** Adds a team member or changes their role. */
export function TeamMemberDialog({
  team,
  name,
  of,
  members,
  onClose,
}: {
  team: string
  name: string
  /** null to select a new team member. */
  of: TeamMemberRecord | null
  /** Current team members. */
  members: TeamMemberRecord[]
  onClose: () => void
}) {
  const { tenant } = useScope()
  const users = useMembers().data ?? []
  const [user, setUser] = useState(of?.id ?? '')
  const [role, setRole] = useState<TeamRole>(of?.role ?? 'Team Member')
  const who = of?.name ?? users.find(({ id }) => id === user)?.name ?? ''
  const change = useChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/teams/{team}/members', {
        params: { tenant, team },
        body: { user, role },
      }),
    `${who} is now ${role} of ${name}.`,
  )
  return (
    <FormDialog
      title={of ? `Change role of ${of.name} in ${name}` : `Add member to ${name}`}
      submit={of ? 'Change role' : 'Add member'}
      isReady={user !== '' && role !== of?.role}
      change={change}
      onClose={onClose}
    >
      {of === null && (
        <UserField
          label="User"
          users={users.filter(({ id }) => !members.some((member) => member.id === id))}
          value={user}
          onChange={setUser}
        />
      )}
      <RoleField words={teamRoleLabels} value={role} onChange={setRole} />
    </FormDialog>
  )
}
