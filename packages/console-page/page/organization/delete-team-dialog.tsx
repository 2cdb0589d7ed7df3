import type { TeamRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { useScope } from '../api/use-project.ts'
import { FormDialog } from '../components/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'

/** Confirms deleting a team, or lists the projects that block it. */
export function DeleteTeamDialog({
  of: { id, name },
  owned,
  onClose,
}: {
  of: TeamRecord
  owned: string[]
  onClose: () => void
}) {
  const { tenant } = useScope()
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/teams/{team}', { params: { tenant, team: id } }),
    `Team ${name} deleted.`,
  )
  return (
    <FormDialog
      title={`Delete team ${name}?`}
      submit="Delete team"
      isDanger
      isReady={owned.length === 0}
      change={remove}
      onClose={onClose}
    >
      {owned.length === 0 ? (
        <p>This team owns no projects, so no keys stop working. Its members stay in the organization.</p>
      ) : (
        <p className="notice">
          This team owns {owned.join(', ')}. Delete {owned.length === 1 ? 'it' : 'them'} before deleting the team.
        </p>
      )}
    </FormDialog>
  )
}
