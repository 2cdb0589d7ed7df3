import type { TeamMemberRecord } from '@gateway/api/console/people'
import { ask } from '../api/ask.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { StoppedKeys } from '../people/stopped-keys.tsx'
import { useChange } from '../api/use-change.ts'
import { useOrganization, useProjects } from './use-organization.ts'

/** Takes somebody out of a team, and says before which keys stop working. */
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
    `${person.name} is not in ${name} any more.`,
  )
  return (
    <FormDialog
      title={`Take ${person.name} out of ${name}?`}
      submit="Take them out"
      cancel="Keep them"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>
        {person.name} stays in the organization, and keeps their grants; they make no keys for projects of the team.
      </p>
      <StoppedKeys person={person.id} name={person.name} projects={owned} />
    </FormDialog>
  )
}
