import { ask } from '../api/ask.ts'
import { usePlace, useProjectName } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { reasonsFor, type ProjectAccess } from './project-access.ts'
import { StoppedKeys } from './stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'

/** Confirms removing a grant, and shows the remaining access and the keys that stop working. */
export function WithdrawDialog({
  of: person,
  isLastOwner,
  teamName,
  onClose,
}: {
  of: ProjectAccess
  isLastOwner: boolean
  teamName: string
  onClose: () => void
}) {
  const { tenant, project } = usePlace()
  const projectName = useProjectName()
  const withdraw = useChange(
    () =>
      ask('DELETE', '/api/v2/tenants/{tenant}/projects/{project}/grants/{person}', {
        params: { tenant, project, person: person.id },
      }),
    `${person.name} no longer has a role on ${projectName}.`,
  )
  const left = reasonsFor({ ...person, grant: null }, teamName)
  return (
    <FormDialog
      title={`Remove access for ${person.name}?`}
      submit="Remove access"
      isDanger
      change={withdraw}
      onClose={onClose}
    >
      <p>
        {person.name} immediately loses the role {person.grant} on {projectName}, and with it access to the project's
        wallet, usage, calls and flows.
      </p>
      {person.organization !== null && left.length > 0 && (
        <p className="soft">They can still see that the project exists, as {left.join(' and ')}.</p>
      )}
      <StoppedKeys person={person.id} name={person.name} projects={[project]} />
      {isLastOwner && (
        <p className="notice">
          There is no other Project Owner. No one can manage access until an Admin of the organization appoints one.
        </p>
      )}
    </FormDialog>
  )
}
