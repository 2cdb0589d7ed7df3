import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { ProjectRole } from '@gateway/api/console/fields'
import { ask } from '../api/ask.ts'
import { readingAll } from '../api/reading.ts'
import { usePlace } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { PersonField } from './person-field.tsx'
import { issuesKeys, lackForKeys, type ProjectAccess } from './project-access.ts'
import { RoleField } from './role-field.tsx'
import { projectRoleWords } from './role-words.ts'
import { StoppedKeys } from './stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'

/** Adds a person to the project or changes their role, and lists the keys that stop working. */
export function GrantDialog({
  of,
  people,
  teamName,
  isAppointing,
  onClose,
}: {
  /** null to select a new person. */
  of: ProjectAccess | null
  people: ProjectAccess[]
  teamName: string
  /** Appoints an owner; other roles aren't offered. */
  isAppointing: boolean
  onClose: () => void
}) {
  const { tenant, project } = usePlace()
  const members = useQuery(readingAll('/api/v2/tenants/{tenant}/members', { params: { tenant } })).data ?? []
  const [chosen, setChosen] = useState(of?.id ?? '')
  const [role, setRole] = useState<ProjectRole>(isAppointing ? 'Project Owner' : (of?.grant ?? 'Project Consumer'))
  const member = members.find(({ id }) => id === chosen)
  const name = of?.name ?? member?.name ?? 'they'
  const grant = useChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/projects/{project}/grants', {
        params: { tenant, project },
        body: { person: chosen, role },
      }),
    `${name} is now ${role}.`,
  )
  const before = people.find(({ id }) => id === chosen) ?? { grant: null, team: null, organization: null }
  const after = { ...before, grant: role, organization: member?.role ?? before.organization }
  const lack = role === 'Project Viewer' ? null : lackForKeys(after, teamName)
  const free = members.filter(({ id }) => !people.some((each) => each.id === id && each.grant !== null))
  return (
    <FormDialog
      title={of?.grant ? `Change role of ${of.name}` : isAppointing ? 'Appoint owner' : 'Add person'}
      submit={of?.grant ? 'Change role' : isAppointing ? 'Appoint owner' : 'Add person'}
      isReady={chosen !== '' && role !== before.grant}
      change={grant}
      onClose={onClose}
    >
      {of === null && (
        <PersonField label="Person" people={isAppointing ? members : free} value={chosen} onChange={setChosen} />
      )}
      <RoleField
        words={projectRoleWords}
        {...(isAppointing && { roles: ['Project Owner'] as const })}
        value={role}
        onChange={setRole}
      />
      {chosen !== '' && lack !== null && (
        <p className="notice">
          To create keys, {name} also needs {lack}. An Admin of the organization can grant it.
        </p>
      )}
      {issuesKeys(before) && !issuesKeys(after) && <StoppedKeys person={chosen} name={name} projects={[project]} />}
    </FormDialog>
  )
}
