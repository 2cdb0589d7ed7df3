import { useState } from 'react'
import type { TeamMemberRecord } from '@gateway/api/console/people'
import type { TeamRole } from '@gateway/api/console/fields'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { PersonField } from '../people/person-field.tsx'
import { RoleField } from '../people/role-field.tsx'
import { teamRoleWords } from '../people/role-words.ts'
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
  const { tenant } = usePlace()
  const people = useMembers().data ?? []
  const [person, setPerson] = useState(of?.id ?? '')
  const [role, setRole] = useState<TeamRole>(of?.role ?? 'Team Member')
  const who = of?.name ?? people.find(({ id }) => id === person)?.name ?? ''
  const change = useChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/teams/{team}/members', {
        params: { tenant, team },
        body: { person, role },
      }),
    `${who} is now ${role} of ${name}.`,
  )
  return (
    <FormDialog
      title={of ? `Change role of ${of.name} in ${name}` : `Add member to ${name}`}
      submit={of ? 'Change role' : 'Add member'}
      isReady={person !== '' && role !== of?.role}
      change={change}
      onClose={onClose}
    >
      {of === null && (
        <PersonField
          label="Person"
          people={people.filter(({ id }) => !members.some((member) => member.id === id))}
          value={person}
          onChange={setPerson}
        />
      )}
      <RoleField words={teamRoleWords} value={role} onChange={setRole} />
    </FormDialog>
  )
}
