import type { TeamMemberRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { StoppedKeys } from '../users/stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'
import { useOrganization, useProjects } from './use-organization.ts'

/** Confirms removing a team member and lists the keys that stop working. */
export function RemoveTeamMemberDialog({
  team,
  name,
  of: user,
  onClose,
}: {
  team: string
  name: string
  of: TeamMemberRecord
  onClose: () => void
}) {
  const { tenant } = useOrganization()
  const owned = (useProjects().data ?? []).filter((project) => project.team === team).map(({ id }) => id)
  const remove = useChange(
    () =>
      ask('DELETE', '/api/v2/tenants/{tenant}/teams/{team}/members/{user}', {
        params: { tenant, team, user: user.id },
      }),
    `${user.name} removed from ${name}.`,
  )
  return (
    <FormDialog
      title={`Remove ${user.name} from ${name}?`}
      submit="Remove from team"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>
        {user.name} stays in the organization and keeps their grants, but can't create keys for the team's projects.
      </p>
      <StoppedKeys user={user.id} name={user.name} projects={owned} />
    </FormDialog>
  )
}
