import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { ProjectRole } from '@gateway/api/console/fields'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { UserField } from './user-field.tsx'
import { issuesKeys, lackForKeys, type ProjectAccess } from './project-access.ts'
import { RoleField } from './role-field.tsx'
import { projectRoleLabels } from './role-labels.ts'
import { StoppedKeys } from './stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'

/** Adds a user to the project or changes their role, and lists the keys that stop working. */
export function GrantDialog({
  of,
  users,
  teamName,
  isAppointing,
  onClose,
}: {
  /** null to select a new user. */
  of: ProjectAccess | null
  users: ProjectAccess[]
  teamName: string
  /** Appoints an owner; other roles aren't offered. */
  isAppointing: boolean
  onClose: () => void
}) {
  const { tenant, project } = useScope()
  const members = useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } })).data ?? []
  const [chosen, setChosen] = useState(of?.id ?? '')
  const [role, setRole] = useState<ProjectRole>(isAppointing ? 'Project Owner' : (of?.grant ?? 'Project Consumer'))
  const member = members.find(({ id }) => id === chosen)
  const name = of?.name ?? member?.name ?? 'they'
  const grant = useChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/projects/{project}/grants', {
        params: { tenant, project },
        body: { user: chosen, role },
      }),
    isAppointing ? `${name} is appointed as ${role}.` : `${name} is now ${role}.`,
  )
  const before = users.find(({ id }) => id === chosen) ?? { grant: null, team: null, organization: null }
  const after = { ...before, grant: role, organization: member?.role ?? before.organization }
  const lack = role === 'Project Viewer' ? null : lackForKeys(after, teamName)
  const free = members.filter(({ id }) => !users.some((each) => each.id === id && each.grant !== null))
  return (
    <FormDialog
      title={of?.grant ? `Change role of ${of.name}` : isAppointing ? 'Appoint owner' : 'Add user'}
      submit={of?.grant ? 'Change role' : isAppointing ? 'Appoint owner' : 'Add user'}
      isReady={chosen !== '' && role !== before.grant}
      change={grant}
      onClose={onClose}
    >
      {of === null && (
        <UserField label="User" users={isAppointing ? members : free} value={chosen} onChange={setChosen} />
      )}
      <RoleField
        words={projectRoleLabels}
        {...(isAppointing && { roles: ['Project Owner'] as const })}
        value={role}
        onChange={setRole}
      />
      {isAppointing && (
        <p className="soft">
          If the project had an owner before, the appointment takes effect after a delay. Former owners and Admins can
          object until then.
        </p>
      )}
      {chosen !== '' && lack !== null && (
        <p className="notice">
          To create keys, {name} also needs {lack}. An Admin of the organization can grant it.
        </p>
      )}
      {issuesKeys(before) && !issuesKeys(after) && <StoppedKeys user={chosen} name={name} projects={[project]} />}
    </FormDialog>
  )
}
