import { ask } from '../api/ask.ts'
import { usePlace, useProjectName } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { reasonsFor, type ProjectAccess } from './project-access.ts'
import { StoppedKeys } from './stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'

/** Takes a grant away, and says before what stops working, and what they still see. */
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
    `${person.name} has no role on ${projectName} any more.`,
  )
  const left = reasonsFor({ ...person, grant: null }, teamName)
  return (
    <FormDialog
      title={`Withdraw the role of ${person.name}?`}
      submit="Withdraw it"
      cancel="Keep it"
      isDanger
      change={withdraw}
      onClose={onClose}
    >
      <p>
        {person.name} is {person.grant} on {projectName}, and loses it at once. The wallet, usage, calls and flows of
        the project are closed to them.
      </p>
      {person.organization !== null && left.length > 0 && (
        <p className="soft">They still see that the project exists, as {left.join(' and ')}.</p>
      )}
      <StoppedKeys person={person.id} name={person.name} projects={[project]} />
      {isLastOwner && (
        <p className="notice">
          Nobody else is Project Owner. Until an Admin of the organization appoints one, nobody can give roles here.
        </p>
      )}
    </FormDialog>
  )
}
