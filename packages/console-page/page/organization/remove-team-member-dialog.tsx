import type { TeamMemberRecord } from '@gateway/api/console/people'
import { ask } from '../api/ask.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { StoppedKeys } from '../people/stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'
import { useOrganization, useProjects } from './use-organization.ts'

/** Confirms removing a team member and lists the keys that stop working. */
export function RemoveTeamMemberDialog({
  team,
  name,
  of: person,
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
      ask('DELETE', '/api/v2/tenants/{tenant}/teams/{team}/members/{person}', {
        params: { tenant, team, person: person.id },
      }),
    `${person.name} removed from ${name}.`,
  )
  return (
    <FormDialog
      title={`Remove ${person.name} from ${name}?`}
      submit="Remove from team"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>
        {person.name} stays in the organization and keeps their grants, but can't create keys for the team's projects.
      </p>
      <StoppedKeys person={person.id} name={person.name} projects={owned} />
    </FormDialog>
  )
}
