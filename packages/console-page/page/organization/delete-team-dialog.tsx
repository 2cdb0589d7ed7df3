import type { TeamRecord } from '@gateway/api/console/people'
import { ask } from '../api/ask.ts'
import { usePlace } from '../api/use-project.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'

/** Deletes a team that owns nothing; of another it says why not. */
export function DeleteTeamDialog({
  of: { id, name },
  owned,
  onClose,
}: {
  of: TeamRecord
  owned: string[]
  onClose: () => void
}) {
  const { tenant } = usePlace()
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/teams/{team}', { params: { tenant, team: id } }),
    `The team ${name} is deleted.`,
  )
  return (
    <FormDialog
      title={`Delete the team ${name}?`}
      submit="Delete it"
      cancel="Keep it"
      isDanger
      isReady={owned.length === 0}
      change={remove}
      onClose={onClose}
    >
      {owned.length === 0 ? (
        <p>It owns no project, so no key stops working. Its members stay in the organization.</p>
      ) : (
        <p className="notice">
          It owns {owned.join(', ')}. A team is deleted once it owns no project: delete{' '}
          {owned.length === 1 ? 'it' : 'them'} first.
        </p>
      )}
    </FormDialog>
  )
}
