import { ask } from '../api/ask.ts'
import { useScope, useProjectName } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { reasonsFor, type ProjectAccess } from './project-access.ts'
import { StoppedKeys } from './stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'

/** Confirms removing a grant, and shows the remaining access and the keys that stop working. */
export function WithdrawDialog({
  of: user,
  isLastOwner,
  teamName,
  onClose,
}: {
  of: ProjectAccess
  isLastOwner: boolean
  teamName: string
  onClose: () => void
}) {
  const { tenant, project } = useScope()
  const projectName = useProjectName()
  const withdraw = useChange(
    () =>
      ask('DELETE', '/api/v2/tenants/{tenant}/projects/{project}/grants/{user}', {
        params: { tenant, project, user: user.id },
      }),
    `${user.name} no longer has a role on ${projectName}.`,
  )
  const left = reasonsFor({ ...user, grant: null }, teamName)
  return (
    <FormDialog
      title={`Remove access for ${user.name}?`}
      submit="Remove access"
      isDanger
      change={withdraw}
      onClose={onClose}
    >
      <p>
        {user.name} immediately loses the role {user.grant} on {projectName}, and with it access to the project's
        wallet, usage, calls and flows.
      </p>
      {user.organization !== null && left.length > 0 && (
        <p className="soft">They can still see that the project exists, as {left.join(' and ')}.</p>
      )}
      <StoppedKeys user={user.id} name={user.name} projects={[project]} />
      {isLastOwner && (
        <p className="notice">
          There is no other Project Owner. No one can manage access until an Admin of the organization appoints one.
        </p>
      )}
    </FormDialog>
  )
}
