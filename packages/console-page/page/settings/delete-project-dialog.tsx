import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { reading, readingAll } from '../api/reading.ts'
import { usePlace } from '../api/use-project.ts'
import { Money } from '../parts/money.tsx'
import { several } from '../pure/usd.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useChange } from '../api/use-change.ts'

/** Deletes a project, and says before what ends with it, for ever. */
export function DeleteProjectDialog({
  of: { id: project, name },
  onDone,
  onClose,
}: {
  of: { id: string; name: string }
  /** Instead of closing it. */
  onDone?: () => void
  onClose: () => void
}) {
  const { tenant } = usePlace()
  const params = { tenant, project }
  const keys = useQuery(
    readingAll('/api/v2/tenants/{tenant}/keys', { params: { tenant }, query: { project, state: 'Active' } }),
  )
  // Not for an Admin without a grant.
  const wallet = useQuery(reading('/api/v2/tenants/{tenant}/projects/{project}/wallet', { params }))
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/projects/{project}', { params }),
    `The project ${name} is deleted.`,
  )
  return (
    <FormDialog
      title={`Delete the project ${name}?`}
      submit="Delete it for ever"
      cancel="Keep it"
      isDanger
      change={remove}
      {...(onDone && { onDone })}
      onClose={onClose}
    >
      <p>This cannot be undone. With the project end:</p>
      <ul className="rules">
        <li>
          {keys.data ? several(keys.data.length, 'working key') : 'its keys'}: every call is refused from the next one
          on;
        </li>
        <li>its flows with all their revisions, its tokens for programs, and every role on it;</li>
        <li>
          what its wallet still has
          {wallet.data && (
            <>
              , <Money micro={wallet.data.availableMicro} />
            </>
          )}
          : it stays in the books, and nobody can spend it.
        </li>
      </ul>
      <p className="soft">What was charged stays in the books, and the audit keeps who did what.</p>
    </FormDialog>
  )
}
